"""Passphrases of encrypted archives from a file, the environment, the system's keyring or a prompt.

They are never command-line arguments, which other users of the machine can see, and never echoed.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.archives.archive_file import check_file, import_sqlcipher
from holdfast.backup.archives.passphrases import is_encrypted
from holdfast.backup.errors import ArchiveError, PassphraseMissing, PassphraseRefused, WrongPassphrase
from holdfast.cli.key_store import load_passphrase
from holdfast.cli.keys import read_file

__all__ = ["VARIABLE", "EncryptOption", "PassphraseFileOption", "new_passphrase", "open_archive", "passphrase_for"]

VARIABLE: Final = "HOLDFAST_ARCHIVE_PASSPHRASE"

PassphraseFileOption = Annotated[
    Path | None,
    typer.Option("--passphrase-file", help="A file with the passphrase of an encrypted archive, on one line."),
]
EncryptOption = Annotated[
    bool,
    typer.Option("--encrypt", help="Encrypt the archive, if it is new, with a passphrase; it is asked for."),
]


def open_archive(
    archive: Path, passphrase_file: Path | None, *, create: bool = False, encrypt: bool = False
) -> Archive:
    """Open an archive; on a terminal, prompt once for the passphrase of an encrypted one."""
    passphrase = passphrase_for(archive, passphrase_file, encrypt=encrypt)
    try:
        return archives.open(archive, create=create, passphrase=passphrase)
    except WrongPassphrase:
        if load_passphrase(archive) == passphrase:
            raise WrongPassphrase(
                f"the passphrase in the system's keyring does not fit {archive}; "
                "`holdfast archive passphrase --forget` removes it"
            ) from None
        raise


def passphrase_for(archive: Path, passphrase_file: Path | None, *, encrypt: bool = False) -> str | None:
    """Return the passphrase of an archive; None if it is not encrypted and `encrypt` is false.

    With `encrypt`, a missing or empty archive is to be encrypted: a prompt asks twice for a new passphrase.
    """
    try:
        head = check_file(archive, create=True)
    except ArchiveError:
        # Errors are reported when the archive is opened; its folder may be created before that.
        head = b"" if not archive.exists() else b"?"
    if is_encrypted(head):
        import_sqlcipher()
        secret = given_passphrase(passphrase_file) or load_passphrase(archive)
        return ask(f"Passphrase of {archive.name}") if secret is None else secret
    if not encrypt:
        return None
    if head:
        raise typer.BadParameter(
            f"{archive} is there already, and not encrypted; `holdfast archive encrypt` encrypts it",
            param_hint="--encrypt",
        )
    return new_passphrase(passphrase_file)


def new_passphrase(passphrase_file: Path | None, *, environment: bool = True) -> str:
    """Return a passphrase to encrypt with; a prompt asks for it twice."""
    import_sqlcipher()
    secret = given_passphrase(passphrase_file, environment=environment)
    return ask("New passphrase", twice=True) if secret is None else secret


def given_passphrase(passphrase_file: Path | None, *, environment: bool = True) -> str | None:
    """Return the passphrase from the file or the environment, in this order."""
    if passphrase_file is not None:
        text = read_file(passphrase_file).rstrip("\r\n")
        if "\n" in text or not text:
            raise PassphraseRefused(
                f"{passphrase_file} is empty, or has more than one line; it must have exactly one"
            )
        return text
    return (os.environ.get(VARIABLE) or None) if environment else None


def ask(prompt: str, *, twice: bool = False) -> str:
    """Prompt for a passphrase without echo."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PassphraseMissing(f"a passphrase is needed; give it with --passphrase-file or {VARIABLE}")
    answer: str = typer.prompt(prompt, hide_input=True, confirmation_prompt=twice, err=True)
    return answer
