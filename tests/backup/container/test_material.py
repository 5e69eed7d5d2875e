"""Key material: the keys open the file, or the error names what is missing."""

from uuid import UUID

import pytest

from holdfast.backup.container.keys import BackupId, BackupKey, EntropyPool, ForwardSecrecyToken, MessageKeys
from holdfast.backup.container.material import KeyMaterial, parse_aci
from holdfast.backup.container.metadata import LocalMetadata
from holdfast.backup.errors import KeyIncomplete, KeyRefused
from tests.backup.container.vectors import LEGACY_B, MODERN_B, SET_B

POOL = EntropyPool.parse(SET_B.pool)
KEY = BackupKey.parse(SET_B.backup_key)
ID = BackupId.parse(SET_B.backup_id)
TOKEN = ForwardSecrecyToken.parse(SET_B.token)
ACI = SET_B.aci
LOCAL = LocalMetadata.seal(ID, KEY.local_metadata_key())


@pytest.mark.parametrize(
    "material",
    [
        KeyMaterial(pool=POOL, aci=ACI),
        KeyMaterial(pool=POOL, backup_id=ID),
        KeyMaterial(backup_key=KEY, aci=ACI),
        KeyMaterial(backup_key=KEY, backup_id=ID),
        KeyMaterial(pool=POOL, aci=ACI, token=TOKEN),
        KeyMaterial(message=LEGACY_B),
    ],
    ids=repr,
)
def test_a_legacy_container_opens_with(material: KeyMaterial) -> None:
    """A root key and an account or backup id, or the container's own keys, open a legacy container."""
    assert material.message_keys(modern=False) == LEGACY_B


@pytest.mark.parametrize(
    "material",
    [
        KeyMaterial(pool=POOL, aci=ACI, token=TOKEN),
        KeyMaterial(backup_key=KEY, backup_id=ID, token=TOKEN),
        KeyMaterial(message=MODERN_B),
    ],
    ids=repr,
)
def test_a_modern_container_opens_with(material: KeyMaterial) -> None:
    """A modern container needs the forward-secrecy token too, or its own keys."""
    assert material.message_keys(modern=True) == MODERN_B


@pytest.mark.parametrize("material", [KeyMaterial(pool=POOL), KeyMaterial(backup_key=KEY)], ids=repr)
def test_a_local_folder_opens_with_the_root_alone(material: KeyMaterial) -> None:
    """The recovery key or the backup key opens a folder, whose metadata file has the backup id."""
    assert material.message_keys(modern=False, local_metadata=LOCAL) == LEGACY_B


def test_the_folder_knows_better_than_a_mistyped_account() -> None:
    """Beside its own metadata file, a container does not need the account id, so a wrong one does no harm."""
    material = KeyMaterial(pool=POOL, aci=UUID(int=7))
    assert material.message_keys(modern=False, local_metadata=LOCAL) == LEGACY_B


@pytest.mark.parametrize(
    ("material", "pattern"),
    [
        (KeyMaterial(), "it needs the recovery key, the account id and the forward-secrecy token"),
        (
            KeyMaterial(pool=POOL),
            "besides the recovery key it needs the account id and the forward-secrecy token",
        ),
        (KeyMaterial(backup_key=KEY, backup_id=ID), "besides the backup key it needs the forward-secrecy token"),
        (KeyMaterial(aci=ACI, token=TOKEN), "it needs the recovery key"),
    ],
    ids=repr,
)
def test_what_a_remote_backup_lacks_is_said_in_words(material: KeyMaterial, pattern: str) -> None:
    """The error says that the file is a remote backup, and which keys are missing."""
    with pytest.raises(KeyIncomplete) as caught:
        material.message_keys(modern=True)
    assert str(caught.value) == f"this is a remote backup: {pattern}"
    assert all(missing in pattern for missing in caught.value.missing)


@pytest.mark.parametrize(
    ("material", "local", "pattern"),
    [
        (
            KeyMaterial(pool=POOL),
            None,
            "this is a backup without its folder: besides the recovery key it needs the account id",
        ),
        (
            KeyMaterial(),
            None,
            "this is a backup without its folder: it needs the recovery key and the account id",
        ),
        (KeyMaterial(aci=ACI), LOCAL, "this is a local backup: it needs the recovery key"),
    ],
)
def test_what_a_legacy_container_lacks_depends_on_its_folder(
    material: KeyMaterial, local: LocalMetadata | None, pattern: str
) -> None:
    """Beside its metadata file a container asks for the recovery key only."""
    with pytest.raises(KeyIncomplete) as caught:
        material.message_keys(modern=False, local_metadata=local)
    assert pattern == str(caught.value)


def test_keys_that_contradict_each_other_are_refused() -> None:
    """Two root keys, or the container's own keys with a recovery key, are refused as ambiguous."""
    with pytest.raises(KeyRefused, match="the recovery key or the backup key, not both"):
        KeyMaterial(pool=POOL, backup_key=KEY)
    with pytest.raises(KeyRefused, match="HMAC and AES keys or"):
        KeyMaterial(pool=POOL, message=MessageKeys.split(bytes(64)))


def test_its_repr_says_which_keys_there_are() -> None:
    """`repr` has the names of the given keys and none of their values."""
    assert repr(KeyMaterial(pool=POOL, aci=ACI, token=TOKEN)) == "KeyMaterial(pool, aci, token)"
    assert repr(KeyMaterial()) == "KeyMaterial()"


def test_an_account_id_is_a_uuid() -> None:
    """An account id is read with or without dashes, and the error about an invalid one names it."""
    assert parse_aci(ACI.hex) == ACI == parse_aci(str(ACI))
    with pytest.raises(KeyRefused, match="an account id is a UUID"):
        parse_aci("someone")
