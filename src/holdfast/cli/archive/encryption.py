"""`holdfast archive encrypt`, `decrypt` and `passphrase`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from holdfast import backup
from holdfast.backup import EncryptionChange
from holdfast.backup.archives.archive_file import check_file
from holdfast.backup.archives.encryption import finish_encryption, has_plain_files
from holdfast.backup.archives.passphrases import is_encrypted
from holdfast.backup.errors import ArchiveError
from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.key_store import delete_passphrase, load_passphrase, store_passphrase
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable, waiting
from holdfast.cli.passphrases import PassphraseFileOption, new_passphrase, passphrase_for
from holdfast.counts import count_of

__all__ = ["EncryptionOutput", "decrypt", "encrypt", "passphrase"]

NewFileOption = Annotated[
    Path | None, typer.Option("--new-passphrase-file", help="A file with the new passphrase, on its only line.")
]
RememberOption = Annotated[
    bool, typer.Option("--remember", help="Store the passphrase in the system's keyring, and do nothing else.")
]
ForgetOption = Annotated[
    bool, typer.Option("--forget", help="Remove the passphrase from the system's keyring, and do nothing else.")
]


class EncryptionOutput(msgspec.Struct, frozen=True):
    """The JSON output of `archive encrypt`, `decrypt` and `passphrase`."""

    archive: Path
    encrypted: bool
    files: int
    damaged: int


def encrypt(
    archive_file: ArchiveArgument, *, passphrase_file: PassphraseFileOption = None, json: JsonOption = False
) -> int:
    """Encrypt an archive and the files beside it with a passphrase.

    Without the passphrase nothing in it can be read, by anybody: there is no other way in. It can be interrupted
    at any moment and run again. What was there unencrypted is overwritten; the guide says what may last on a disk.
    """
    if is_encrypted(check_file(archive_file, create=False)):
        if has_plain_files(archive_file):
            # An interrupted run has replaced the archive, and not deleted all that was there.
            finish_encryption(archive_file, existing_passphrase(archive_file, passphrase_file))
            return report(archive_file, EncryptionChange(), "is encrypted now", encrypted=True, json=json)
        raise ArchiveError(
            f"{archive_file} is encrypted already; `holdfast archive passphrase` changes its passphrase"
        )
    secret = new_passphrase(passphrase_file)
    with waiting("encrypting"):
        encryption_change = backup.encrypt_archive(archive_file, secret)
    return report(archive_file, encryption_change, "is encrypted now", encrypted=True, json=json)


def decrypt(
    archive_file: ArchiveArgument, *, passphrase_file: PassphraseFileOption = None, json: JsonOption = False
) -> int:
    """Remove the encryption of an archive and of the files beside it."""
    secret = existing_passphrase(archive_file, passphrase_file)
    with waiting("decrypting"):
        encryption_change = backup.decrypt_archive(archive_file, secret)
    return report(archive_file, encryption_change, "is not encrypted any more", encrypted=False, json=json)


def passphrase(
    archive_file: ArchiveArgument,
    *,
    new_passphrase_file: NewFileOption = None,
    remember: RememberOption = False,
    forget: ForgetOption = False,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """Change the passphrase of an encrypted archive, or store it in the system's keyring."""
    if remember and forget:
        raise typer.BadParameter("give one of --remember and --forget", param_hint="--forget")
    if forget:
        was_stored = delete_passphrase(archive_file)
        print_note(f"the passphrase {'was removed from' if was_stored else 'is not in'} the keyring")
        return ExitCode.FINE
    secret = existing_passphrase(archive_file, passphrase_file)
    backup.archive(archive_file, passphrase=secret).close()
    if remember:
        store_passphrase(archive_file, secret)
        print_note("the passphrase is in the keyring now")
        return ExitCode.FINE
    new = new_passphrase(new_passphrase_file, environment=False)
    with waiting("encrypting"):
        encryption_change = backup.change_passphrase(archive_file, secret, new)
    if load_passphrase(archive_file) is not None:
        store_passphrase(archive_file, new)
    return report(archive_file, encryption_change, "has a new passphrase", encrypted=True, json=json)


def existing_passphrase(archive_file: Path, passphrase_file: Path | None) -> str:
    """Return the passphrase of an encrypted archive."""
    check_file(archive_file, create=False)
    secret = passphrase_for(archive_file, passphrase_file)
    if secret is None:
        raise ArchiveError(f"{archive_file} is not encrypted")
    return secret


def report(
    archive_file: Path, encryption_change: EncryptionChange, outcome: str, *, encrypted: bool, json: bool
) -> int:
    """Print the result."""
    if json:
        print_json(EncryptionOutput(archive_file, encrypted, encryption_change.files, encryption_change.damaged))
    else:
        files = f", with {count_of(encryption_change.files, 'file')} beside it" if encryption_change.files else ""
        console().print(f"{printable(str(archive_file))} {outcome}{files}.", soft_wrap=True)
        if encryption_change.damaged:
            print_note(
                f"note: {count_of(encryption_change.damaged, 'file')} could not be decrypted: missing from now on"
            )
    return ExitCode.NO if encryption_change.damaged else ExitCode.FINE
