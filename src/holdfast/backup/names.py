"""What people, groups and chats are called, as the owner of the account would see it."""

from holdfast.backup.schema.backup_pb2 import AccountData, Contact, Recipient

__all__ = ["account_name", "recipient_name"]


def account_name(account: AccountData) -> str:
    """Return the owner's profile name."""
    return joined(account.givenName, account.familyName) or account.username


def recipient_name(recipient: Recipient) -> str:
    """Return what a recipient is called; for one without any name, what little is known of it."""
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
    """Return the first name there is: chosen by the owner, from the address book, from the profile, the rest."""
    return (
        joined(contact.nickname.given, contact.nickname.family)
        or joined(contact.systemGivenName, contact.systemFamilyName)
        or contact.systemNickname
        or joined(contact.profileGivenName, contact.profileFamilyName)
        or contact.username
        or (f"+{contact.e164}" if contact.e164 else "Unknown")
    )


def joined(*parts: str) -> str:
    """Put the parts of a name together."""
    return " ".join(part for part in parts if part)
