"""Test vectors: keys and files with known results, and a function that encrypts containers."""

import io
from dataclasses import dataclass
from uuid import UUID

from holdfast.backup.container.cipher import encrypt
from holdfast.backup.container.keys import MessageKeys
from holdfast.backup.container.metadata import ForwardSecrecy, TokenPair
from holdfast.backup.container.padding import padded


@dataclass(frozen=True)
class KeySet:
    """One account's inputs and everything derived from them, in hexadecimal."""

    pool: str
    aci: UUID
    token: str
    backup_key: str
    backup_id: str
    legacy: tuple[str, str]
    modern: tuple[str, str]


SET_A = KeySet(
    pool="dtjs858asj6tv0jzsqrsmj0ubp335pisj98e9ssnss8myoc08drhtcktyawvx45l",
    aci=UUID("659aa5f4a28dfcc11ea1b997537a3d95"),
    token="69207061737320746865206b6e69666520746f207468652061786f6c6f746c21",
    backup_key="ea26a2ddb5dba5ef9e34e1b8dea1f5ae7f255306a6d2d883e542306eaa9fe985",
    backup_id="8a624fbc45379043f39f1391cddc5fe8",
    legacy=(
        "f425e22a607c529717e1e1b29f9fe139f9d1c7e7d01e371c7753c544a3026649",
        "e143f4ad5668d8bfed2f88562f0693f53bda2c0e55c9d71730f30e24695fd6df",
    ),
    modern=(
        "20e6ab57b87e051f3e695e953cf8a261dd307e4f92ae2921673f1d397e07887b",
        "602af6ecfc09d695a8d58da9f18225e967979c5e03543ca0224a03cca3d9735e",
    ),
)
SET_B = KeySet(
    pool="m" * 64,
    aci=UUID("11111111-1111-1111-1111-111111111111"),
    token="ab" * 32,
    backup_key="2afc757bc8e86cc317848227ab79c41298d6b0688c5f40960c600966512bd736",
    backup_id="687b4288aab129fd7dcb3941aa3c7e39",
    legacy=(
        "bfb00e1f5fb1db5e59fef8f9b11deb32cf75a7344a0b909f9ebbb3c0a31461a7",
        "0127f5d81d408be7a96de0217db1b03f3d5be252f5654470d476d39249269d40",
    ),
    modern=(
        "2eab8fb5febbf4260ecc384187d6b2888f79761a4175c2b944c2396b3636fb26",
        "e7a2e4554a85a0cf31efaff560fb7870bcb0bf6bafaae13289e0139215ffcb80",
    ),
)

METADATA_KEY_A = "68a14417a1167e55fdb17b24fb223b34752ba4d2bb6294c991acaebf4ec90472"
LEGACY_B = MessageKeys.parse(hmac=SET_B.legacy[0], aes=SET_B.legacy[1])
MODERN_B = MessageKeys.parse(hmac=SET_B.modern[0], aes=SET_B.modern[1])

ONE_PAIR = ForwardSecrecy.build((TokenPair(b"\xcc" * 48, b"\x50" * 32),), b"iv_12_bytes_")
GZIP_START = b"\x1f\x8b\x08"


def exactly(size: int) -> int:
    """Pad nothing, so that content can have any size."""
    return size


def container(content: bytes, *, modern: bool = False, pad: bool = False) -> bytes:
    """Encrypt content with set B and an iv of sixteen I."""
    target = io.BytesIO()
    keys, metadata = (MODERN_B, ONE_PAIR) if modern else (LEGACY_B, None)
    padding = padded if pad else exactly
    with encrypt(target, keys, forward_secrecy=metadata, iv=b"I" * 16, padding=padding) as sealer:
        sealer.write(content)
    return target.getvalue()
