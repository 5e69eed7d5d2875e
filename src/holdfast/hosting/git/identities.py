"""The name and e-mail address of an account in commits."""

import re
from typing import Final

from holdfast.hosting.store.accounts import Account

__all__ = ["commit_email", "commit_name", "noreply_address", "plain"]

NOREPLY_DOMAIN: Final = "noreply.localhost"
# Characters that git does not allow in names.
FORBIDDEN: Final = re.compile(r"[<>\x00-\x1f\x7f]")


def noreply_address(account: Account) -> str:
    """Return the no-reply e-mail address of an account."""
    return f"{account.id}+{account.name.lower()}@{NOREPLY_DOMAIN}"


def plain(text: str) -> str:
    """Return a name or an address without characters that git does not allow."""
    return FORBIDDEN.sub("", text).strip()


def commit_name(account: Account) -> str:
    """Return an account's name in commits."""
    return plain(account.full_name) or account.name


def commit_email(account: Account) -> str:
    """Return an account's e-mail address in commits."""
    return account.email if account.email and not account.hides_email else noreply_address(account)
