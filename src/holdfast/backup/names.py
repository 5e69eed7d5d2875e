"""Display names of people, groups and chats, as the owner of the account sees them."""

from holdfast.backup.schema.backup_pb2 import AccountData, Contact, Recipient

__all__ = ["account_name", "recipient_name"]


def account_name(account: AccountData) -> str:
    """Return the owner's profile name."""
    return joined(account.givenName, account.familyName) or account.username


def recipient_name(recipient: Recipient) -> str:
    """Return the name of a recipient; without any name, a phone number or another identifier."""
    kind = recipient.WhichOneof("destination")
    if kind == "contact":
        return contact_name(recipient.contact)
    if kind == "group":
        return recipient.group.snapshot.title.title or "Unnamed group"
    if kind == "self":
        return "Note to Self"
    if kind == "releaseNotes":
        return "Release Notes"
    if kind == "distributionList":
        return recipient.distributionList.distributionList.name or "Unnamed list"
    if kind == "callLink":
        return recipient.callLink.name or "Call link"
    return "Unknown"


def contact_name(contact: Contact) -> str:
    """Return the first available name: nickname, address book, profile, then identifiers."""
    return (
        joined(contact.nickname.given, contact.nickname.family)
        or joined(contact.systemGivenName, contact.systemFamilyName)
        or contact.systemNickname
        or joined(contact.profileGivenName, contact.profileFamilyName)
        or contact.username
        or (f"+{contact.e164}" if contact.e164 else "Unknown")
    )


def joined(*parts: str) -> str:
    """Join the parts of a name."""
    return " ".join(part for part in parts if part)
