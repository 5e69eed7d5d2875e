"""What makes a person, a group or a list the same one in two backups, and the ids that follow from it.

Ids inside a file mean nothing outside. A person is known by the ACI, else the PNI, else the phone number, else the
username; a group by its master key, a call link by its root key, a distribution list by its UUID. An id of the
archive is made from the account and the strongest of these, so that every archive gives the same thing the same
id. Which of several ways a person is known in are one person is decided in `identity_resolution`.
"""

import hashlib
import hmac
import uuid
from typing import Final

from holdfast.backup.schema.backup_pb2 import AvatarColor, Contact, Recipient

__all__ = ["UNKNOWN", "Identity", "avatar_color", "identities", "service_id", "stable_id", "uuid_text"]

# How something is known: the kind of the identifier, and its value.
Identity = tuple[str, str]
# Stands for whoever a record names that is not in the file.
UNKNOWN: Final[Identity] = ("unknown", "")
# As many as SQLite keeps in six bytes; two of ten thousand people get one id once in three million archives.
ID_BITS: Final = 47
GROUP_LABEL: Final = b"Signal_ZKGroup_20200424_GroupMasterKey_GroupSecretParams_DeriveFromMasterKey"


def stable_id(*parts: object) -> int:
    """Make an id of what identifies a thing, never 0."""
    text = "\x1f".join(str(part) for part in parts)
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - ID_BITS) or 1


def uuid_text(raw: bytes) -> str | None:
    """Write a UUID as text, or bytes that cannot be one in hexadecimal; None for no bytes."""
    if not raw:
        return None
    return str(uuid.UUID(bytes=raw)) if len(raw) == 16 else raw.hex()


def service_id(raw: bytes) -> str:
    """Write a service id as text: an ACI as a UUID, a PNI with its prefix."""
    if len(raw) == 17 and raw[0] == 1:
        return f"PNI:{uuid.UUID(bytes=raw[1:])}"
    return uuid_text(raw) or ""


def identities(recipient: Recipient) -> list[Identity]:
    """List how a recipient is known, the strongest first; nothing for one the archive cannot hold."""
    kind = recipient.WhichOneof("destination")
    if kind == "contact":
        return contact_identities(recipient.contact)
    if kind == "group":
        return [("group", recipient.group.masterKey.hex())]
    if kind == "callLink":
        return [("call_link", recipient.callLink.rootKey.hex())]
    if kind == "distributionList":
        return [("distribution_list", uuid_text(recipient.distributionList.distributionId) or "")]
    if kind == "self":
        return [("self", "")]
    return [("release_notes", "")] if kind == "releaseNotes" else []


def contact_identities(contact: Contact) -> list[Identity]:
    """List how a person is known."""
    identifiers: list[Identity] = []
    if contact.aci:
        identifiers.append(("aci", uuid_text(contact.aci) or ""))
    if contact.pni:
        identifiers.append(("pni", uuid_text(contact.pni) or ""))
    if contact.e164:
        identifiers.append(("e164", str(contact.e164)))
    if contact.username:
        identifiers.append(("username", contact.username.casefold()))
    # Somebody of whom nothing is known but a name is told apart by it.
    return identifiers or [("contact", hashlib.sha256(contact.SerializeToString(deterministic=True)).hexdigest())]


def avatar_color(recipient: Recipient) -> tuple[str | None, bool]:
    """Return the name of a recipient's colour, and whether it had to be computed."""
    kind = recipient.WhichOneof("destination")
    if kind == "contact":
        contact = recipient.contact
        if contact.HasField("avatarColor"):
            return color_name(contact.avatarColor), False
        # The binary service id of a PNI has its prefix byte.
        pni = b"\x01" + contact.pni if contact.pni else b""
        e164 = f"+{contact.e164}".encode() if contact.e164 else b""
        seed = contact.aci or e164 or pni
    elif kind == "group":
        if recipient.group.HasField("avatarColor"):
            return color_name(recipient.group.avatarColor), False
        seed = group_id(recipient.group.masterKey)
    elif kind == "self":
        is_set = recipient.self.HasField("avatarColor")
        return (color_name(recipient.self.avatarColor) if is_set else None), False
    else:
        return None, False
    if not seed:
        return None, False
    colors = AvatarColor.values()
    return color_name(colors[hashlib.sha256(seed).digest()[0] % len(colors)]), True


def color_name(value: int) -> str:
    """Name a colour; one of a later version is read as the first."""
    descriptor = AvatarColor.DESCRIPTOR.values_by_number.get(value)
    return descriptor.name if descriptor else "A100"


def group_id(master_key: bytes) -> bytes:
    """Derive the public id of a group from its master key: a chain of MACs over a label and the key."""
    if not master_key:
        return b""
    link = bytes(32)
    for part in (GROUP_LABEL, master_key):
        link = hmac.digest(link, part + b"\x00", "sha256")
    return hmac.digest(link, bytes(8) + b"\x01", "sha256")
