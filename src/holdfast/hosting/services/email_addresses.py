"""The e-mail addresses of the acting user: the primary one, and others that attribute commits to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.hosting.access import Actor, require_login
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, Violation
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.users import LIMITS
from holdfast.hosting.store import email_addresses as store
from holdfast.hosting.store.accounts import Account

__all__ = ["EmailAddress", "add", "list_own", "remove"]


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """An address of a user."""

    email: str
    is_primary: bool
    user: Account


def list_own(app: App, actor: Actor) -> list[EmailAddress]:
    """Return the addresses of the actor, the primary one first."""
    user = require_login(actor)
    main = [EmailAddress(user.email, True, user)] if user.email else []
    return main + [EmailAddress(email, False, user) for email in store.addresses_of(app.database, user)]


def add(app: App, actor: Actor, emails: Sequence[str]) -> list[EmailAddress]:
    """Add addresses to the actor, all or none, and return them."""
    user = require_login(actor)
    wanted = checked(emails)
    store.add_addresses(app.database, user, wanted)
    return [EmailAddress(email, False, user) for email in wanted]


def remove(app: App, actor: Actor, emails: Sequence[str]) -> None:
    """Remove addresses of the actor, all or none; the primary one cannot be removed."""
    user = require_login(actor)
    store.remove_addresses(app.database, user, checked(emails))


def checked(emails: Sequence[str]) -> list[str]:
    """Return the addresses without duplicates; raise `InvalidField` for no, an empty or a too long address."""
    if not emails:
        raise InvalidField("Emails", Violation.REQUIRED)
    field, limit = LIMITS["email"]
    for email in emails:
        check_required(email, field)
        check_length(email, field, limit)
    return list({email.lower(): email for email in emails}.values())
