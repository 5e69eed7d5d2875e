"""The encrypted file, its compression, and the folder of snapshots a phone writes."""

from collections.abc import Mapping
from typing import Final

from holdfast.backup.parts import Part
from holdfast.backup.rules.repairs import RepairAction
from holdfast.backup.rules.rule import Breach, Rule, Severity, rule
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES", "RULE_OF"]

REFUSES = "An importer rejects the backup."

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "container.length",
        "The encrypted file is truncated: its size is not a multiple of the block size.",
        "Copy the whole file; the rest is validated as far as possible.",
        "contract 3.1",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "container.tokens",
        "The forward secrecy metadata before the encrypted content is damaged.",
        "Copy the file again, or make the backup again.",
        "contract 3.3, contract 5.3",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "container.mac",
        "The encrypted file was changed since it was written: its MAC does not match.",
        "Copy the file again; its content is validated, but could not be authenticated.",
        "contract 3.1, contract 5.3",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "container.padding",
        "The padding of the encrypted content is wrong.",
        "Make the backup again with a program that pads it.",
        "contract 3.1",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "container.compression",
        "The compressed data are damaged or end too early.",
        "Copy the file again, or make the backup again; what comes after this place is lost.",
        "contract 3.1",
        Breach.FORMAT,
        importer="An importer stops here.",
        file_repair=RepairAction.DROP_BYTES,
    ),
    rule(
        "container.checksum",
        "The compressed data were changed since they were written: their checksum does not match.",
        "Copy the file again; its content is validated, but could not be authenticated.",
        "contract 3.1",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "folder.main.present",
        "A snapshot in the folder has no messages: the file `main` is missing.",
        "Copy the whole folder, or make the backup again.",
        "contract 4.1",
        Breach.FORMAT,
        importer="An importer skips the snapshot.",
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "folder.metadata.present",
        "The snapshot has no file `metadata`.",
        "Copy the whole folder; without it only the account id beside the recovery key opens the snapshot.",
        "contract 4.1, contract 4.2",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "folder.metadata.readable",
        "The file `metadata` of the snapshot is damaged.",
        "Copy the file again; without it only the account id beside the recovery key opens the snapshot.",
        "contract 4.2",
        Breach.FORMAT,
        importer=REFUSES,
        file_repair=RepairAction.REWRITE,
    ),
    rule(
        "folder.manifest.present",
        "The snapshot has no file `files`, which lists its attachments.",
        "Nothing needs to be done; but a program that cleans up the folder may delete the attachments as unused.",
        "contract 4.1, contract 4.4",
        Breach.NEWS,
        importer="An importer finds the attachments without it.",
    ),
    rule(
        "folder.manifest.readable",
        "The file `files` of the snapshot, which lists its attachments, is damaged.",
        "Copy the file again, before the folder is cleaned up.",
        "contract 4.4",
        Breach.CARE,
        importer="An importer finds the attachments without it.",
    ),
    rule(
        "folder.manifest.complete",
        "An attachment is not listed in the snapshot.",
        "Make the backup again, before the folder is cleaned up.",
        "contract 4.4",
        Breach.CARE,
        importer="An importer finds the attachment without it.",
        lenient=Severity.WARNING,
    ),
)

# The rule that is broken when a part is missing or damaged; opening a backup checks it.
RULE_OF: Final[Mapping[Part, str]] = {
    Part.LENGTH: "container.length",
    Part.TOKENS: "container.tokens",
    Part.MAC: "container.mac",
    Part.PADDING: "container.padding",
    Part.COMPRESSION: "container.compression",
    Part.CHECKSUM: "container.checksum",
    Part.MAIN: "folder.main.present",
    Part.METADATA: "folder.metadata.readable",
    Part.METADATA_MISSING: "folder.metadata.present",
}
for name in RULE_OF.values():
    number_of_rule(name)
