"""Attachment files of a backup, checked if there is a folder with them."""

from typing import Final

from holdfast.backup.rules.rule import Breach, Rule, Severity, rule

__all__ = ["RULES"]

LOCAL: Final = tuple(f"FilePointer.LocatorInfo.{name}" for name in ("localKey", "plaintextHash", "size"))

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "media.file.present",
        "The file of an attachment is missing.",
        "Copy the whole folder, or make the backup again.",
        "contract 4.5",
        Breach.CARE,
        fields=LOCAL,
        importer="An importer shows the message without its file.",
        lenient=Severity.ERROR,
    ),
    rule(
        "media.file.whole",
        "The file of an attachment is cut short.",
        "Copy the whole file, or make the backup again.",
        "contract 4.5",
        Breach.CARE,
        fields=LOCAL,
        importer="An importer shows the message without its file.",
        lenient=Severity.ERROR,
    ),
    rule(
        "media.file.opens",
        "The file of an attachment was changed, or belongs to another key.",
        "Copy the file again, or make the backup again.",
        "contract 4.5",
        Breach.CARE,
        fields=LOCAL,
        importer="An importer shows the message without its file.",
        lenient=Severity.ERROR,
    ),
    rule(
        "media.file.hash",
        "The file of an attachment is intact, but is not the file of this message.",
        "Make the backup again.",
        "contract 4.5",
        Breach.CARE,
        fields=LOCAL,
        importer="An importer shows the message without its file.",
        lenient=Severity.ERROR,
    ),
    rule(
        "media.file.unused",
        "Nothing refers to the file.",
        "Nothing needs to be done; it only takes up space.",
        "contract 4.4",
        Breach.NEWS,
        importer="An importer ignores it.",
    ),
)
