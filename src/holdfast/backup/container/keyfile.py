"""Key files: a recovery key alone, or a few named lines.

    dtjs 858a sj6t ...                      a recovery key (64 letters and digits, however grouped)

    account-id = 659aa5f4-a28d-fcc1-1ea1-b997537a3d95
    backup-key = ea26a2ddb5db...            instead of the recovery key: 32 bytes, hexadecimal or base64
    backup-id  = 8a624fbc4537...            instead of the account id
    token      = 69207061737320...          the forward-secrecy token a remote backup needs
    hmac-key   = f425e22a607c...            or the two keys of the container itself
    aes-key    = e143f4ad5668...

Lines may be separated by semicolons, so that all of it fits into one environment variable.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from holdfast.backup.container.keys import BackupId, BackupKey, EntropyPool, ForwardSecrecyToken, MessageKeys
from holdfast.backup.container.material import KeyMaterial, parse_aci
from holdfast.backup.errors import KeyRefused
from holdfast.backup.public import public

__all__ = ["NAMES", "read_keys", "write_keys"]

# The field of `KeyMaterial` for each name, and the parser of its value.
READERS: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "recovery-key": ("pool", EntropyPool.parse),
    "backup-key": ("backup_key", BackupKey.parse),
    "account-id": ("aci", parse_aci),
    "backup-id": ("backup_id", BackupId.parse),
    "token": ("token", ForwardSecrecyToken.parse),
}
RAW: Final = ("hmac-key", "aes-key")
NAMES: Final = (*READERS, *RAW)
NAMED: Final = re.compile(r"\s*([a-z]+(?:-[a-z]+)?)\s*[=:]\s*(.+)")
# A line with a name of another kind. An app shows a recovery key with equals signs, but with no other of these.
UNKNOWN_NAME: Final = re.compile(r"[^:=]+(:|\s=\s).*|[A-Za-z _-]+=.+")
HEX_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
BASE64_KEY: Final = re.compile(r"[0-9A-Za-z+/_-]{43}=?")


@public
def read_keys(text: str) -> KeyMaterial:
    """Parse the keys in a text. An error names the line, never its content.

    >>> hb.read_keys(key_file)
    KeyMaterial(pool, aci)
    """
    fields: dict[str, Any] = {}
    raw: dict[str, str] = {}
    bare: dict[int, str] = {}
    for number, line in enumerate(re.split(r"[\n;]", text), start=1):
        match = NAMED.fullmatch(line.rstrip())
        if not line.strip():
            continue
        if match is None or match[1] not in NAMES:
            bare[number] = line.strip()
        elif match[1] in RAW:
            raw[match[1]] = match[2]
        else:
            name, reader = READERS[match[1]]
            if name in fields:
                raise KeyRefused(f"line {number} gives {match[1]} a second time")
            fields[name] = reader(match[2])
    if bare:
        name, value = read_bare(bare, alone=not fields and not raw)
        if name in fields:
            raise KeyRefused("the recovery key or backup key is given twice")
        fields[name] = value
    if raw:
        if len(raw) != len(RAW):
            raise KeyRefused("give both the HMAC key and the AES key, not one of them")
        fields["message"] = MessageKeys.parse(hmac=raw["hmac-key"], aes=raw["aes-key"])
    if not fields:
        raise KeyRefused("there is no key in it")
    return KeyMaterial(**fields)


def write_keys(keys: KeyMaterial) -> str:
    """Return keys as lines that `read_keys` can parse: secrets in plain text."""
    lines: list[str] = []
    if keys.pool is not None:
        lines.append(f"recovery-key = {keys.pool.reveal().decode()}")
    if keys.backup_key is not None:
        lines.append(f"backup-key = {keys.backup_key.reveal().hex()}")
    if keys.aci is not None:
        lines.append(f"account-id = {keys.aci}")
    if keys.backup_id is not None:
        lines.append(f"backup-id = {keys.backup_id.reveal().hex()}")
    if keys.token is not None:
        lines.append(f"token = {keys.token.reveal().hex()}")
    if keys.message is not None:
        lines += [f"hmac-key = {keys.message.hmac.hex()}", f"aes-key = {keys.message.aes.hex()}"]
    return "\n".join(lines)


def read_bare(lines: dict[int, str], *, alone: bool) -> tuple[str, EntropyPool | BackupKey]:
    """Parse a key without a name, in lines by number. A random recovery key is never hexadecimal digits only.

    If other lines have names, so that it is not `alone`, an error names its first line.
    """
    joined = "".join("".join(lines.values()).split())
    if HEX_KEY.fullmatch(joined) or BASE64_KEY.fullmatch(joined):
        return "backup_key", BackupKey.parse(joined)
    try:
        return "pool", EntropyPool.parse(joined)
    except KeyRefused as error:
        for number, line in lines.items():
            if UNKNOWN_NAME.fullmatch(line):
                raise KeyRefused(
                    f"line {number} has a name that is not known; the names are {', '.join(NAMES)}"
                ) from None
        if alone:
            raise
        raise KeyRefused(f"line {min(lines)} has no name, and is not a recovery key: {error}") from None
