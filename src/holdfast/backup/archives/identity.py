"""Identity of recipients across backups, and the ids derived from it.

Ids in a backup are local to it. A person is identified by ACI, else PNI, else phone number, else username; a group
by its master key, a call link by its root key, a distribution list by its UUID. An id of the archive is a hash of
the account and the strongest of these, so that it is the same in every archive. `identity_resolution` decides
which identifiers belong to one person.
"""

import hashlib
import hmac
from typing import Final

from holdfast.backup.schema.backup_pb2 import AvatarColor, Contact, Recipient

__all__ = ["UNKNOWN", "Identity", "avatar_color", "identities", "service_id", "stable_id", "uuid_text"]

# An identifier: its kind and its value.
Identity = tuple[str, str]
# The placeholder recipient, for references to recipients that are not in the backup.
UNKNOWN: Final[Identity] = ("unknown", "")
# As many as SQLite stores in six bytes. Among ten thousand people, a collision occurs in one of three million
# archives.
ID_BITS: Final = 47
UUID_BYTES: Final = 16
GROUP_LABEL: Final = b"Signal_ZKGroup_20200424_GroupMasterKey_GroupSecretParams_DeriveFromMasterKey"


def stable_id(*parts: object) -> int:
    """Return a 47-bit hash of identifying values, never 0."""
    text = "\x1f".join(str(part) for part in parts)
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - ID_BITS) or 1


def uuid_text(raw: bytes) -> str | None:
    """Format a UUID, or bytes of another length in hexadecimal; None for no bytes."""
    if not raw:
        return None
    digits = raw.hex()
    if len(raw) != UUID_BYTES:
        return digits
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def service_id(raw: bytes) -> str:
    """Format a service id: an ACI as a UUID, a PNI with the prefix `PNI:`."""
    if len(raw) == 17 and raw[0] == 1:
        return f"PNI:{uuid_text(raw[1:])}"
    return uuid_text(raw) or ""


def identities(recipient: Recipient) -> list[Identity]:
    """Return the identifiers of a recipient, the strongest first; empty for an unknown kind of recipient."""
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
    """Return the identifiers of a contact."""
    identifiers: list[Identity] = []
    if contact.aci:
        identifiers.append(("aci", uuid_text(contact.aci) or ""))
    if contact.pni:
        identifiers.append(("pni", uuid_text(contact.pni) or ""))
    if contact.e164:
        identifiers.append(("e164", str(contact.e164)))
    if contact.username:
        identifiers.append(("username", contact.username.casefold()))
    # A contact without any identifier is identified by its whole record.
    return identifiers or [("contact", hashlib.sha256(contact.SerializeToString(deterministic=True)).hexdigest())]


def avatar_color(recipient: Recipient) -> tuple[str | None, bool]:
    """Return the name of a recipient's avatar color, and whether it was computed."""
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
    """Return the name of a color; an unknown value is read as the first."""
    descriptor = AvatarColor.DESCRIPTOR.values_by_number.get(value)
    return descriptor.name if descriptor else "A100"


def group_id(master_key: bytes) -> bytes:
    """Derive the public id of a group from its master key with HMAC-SHA-256."""
    if not master_key:
        return b""
    link = bytes(32)
    for part in (GROUP_LABEL, master_key):
        link = hmac.digest(link, part + b"\x00", "sha256")
    return hmac.digest(link, bytes(8) + b"\x01", "sha256")
