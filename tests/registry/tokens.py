"""Whether a token is somebody's."""

from registry import Registry, TokenRefused


def token_fits(registry: Registry, name: str, token: str) -> bool:
    """Whether this is a token that is good now, of the account of exactly that name."""
    try:
        account = registry.account_of(token)
    except TokenRefused:
        return False
    return account is not None and account.name == name
