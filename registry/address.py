"""Addresses of registries as they may be shown and kept."""

from __future__ import annotations

import sqlalchemy as sa

_SECRETS = ("password", "passfile", "sslpassword", "sslkey")
"""Parts of a query that PostgreSQL's library reads secrets from."""


def without_secrets(url: sa.URL) -> str:
    """The address without any password, wherever in it one stood."""
    return url.set(password=None).difference_update_query(_SECRETS).render_as_string()
