"""The name and e-mail address of an account in commits."""

import re
from typing import Final

from holdfast.hosting.store.accounts import Account

__all__ = ["commit_email", "commit_name", "noreply_address", "plain"]

NOREPLY_DOMAIN: Final = "noreply.localhost"
# What git cannot keep in a name.
FORBIDDEN: Final = re.compile(r"[<>\x00-\x1f\x7f]")


def noreply_address(account: Account) -> str:
    """Return the e-mail address that stands for somebody without telling theirs."""
    return f"{account.id}+{account.name.lower()}@{NOREPLY_DOMAIN}"


def plain(text: str) -> str:
    """Return a name or an address without what git cannot keep in one."""
    return FORBIDDEN.sub("", text).strip()


def commit_name(account: Account) -> str:
    """Return the name somebody commits under."""
    return plain(account.full_name) or account.name


def commit_email(account: Account) -> str:
    """Return the e-mail address somebody commits under."""
    return account.email if account.email and not account.hides_email else noreply_address(account)
