"""Who is signed in, whose account that is, and a new token for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboards import data
from dashboards.identity import SignIn, Unknown, account_of, new_token, verified_email
from dashboards.text import in_markdown
from registry import shown
from registry.rights import Account, Role


def show() -> None:
    """Draws the page; it is in the menu only where the operator has named a provider."""
    sign_in = data.sign_in()
    if not st.user.is_logged_in:
        st.markdown("Sign in to get a token for the account that was linked to you.")
        st.button("Sign in", icon=":material/login:", on_click=st.login, key="sign_in")
        return
    claims = st.user.to_dict()
    try:
        account = account_of(sign_in, data.home().registry, claims, datetime.now(UTC))
        _own(sign_in, account, claims)
    except Unknown as error:
        st.warning(in_markdown(str(error)), icon=":material/person_off:")
        _identity(claims)
        st.button("Sign in again", icon=":material/login:", on_click=st.login, key="sign_in")
    st.button("Sign out", icon=":material/logout:", on_click=st.logout, key="sign_out")


def _identity(claims: Mapping[str, Any]) -> None:
    """What the operator needs to link somebody."""
    lines = [f"issuer   {claims.get('iss')}", f"subject  {claims.get('sub')}"]
    email = verified_email(claims)
    st.code(shown("\n".join([*lines, f"e-mail   {email}"] if email else lines)), language=None)


def _own(sign_in: SignIn, account: Account, claims: Mapping[str, Any]) -> None:
    st.markdown(f"You are signed in as **{in_markdown(account.name)}** ({account.role.value}).")
    if account.role is Role.OPERATOR:
        st.caption("Tokens of operators are made by the command line alone.")
        return
    st.caption(
        "A token is for `arena login` and for programs. A new one ends the one before, and is "
        "shown once."
    )
    if st.button("Make a new token", icon=":material/key:", key="new_token"):
        token = new_token(sign_in, data.home().registry, claims, datetime.now(UTC))
        with st.container(key="token"):
            st.code(token, language=None)
