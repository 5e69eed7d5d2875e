"""Recipients (`Recipient`) of any kind: their ids, and identifiers that must be unique."""

from typing import Final

from holdfast.backup.rules.checks import one_of_fields, required
from holdfast.backup.rules.repairs import DROP_RECORD
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "self.once",
        "There is a second recipient that is the user.",
        "Write one, and refer to it everywhere.",
        "contract 5.3",
        Breach.FORMAT,
        fields=("Recipient.self",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "self.present",
        "No recipient is the user.",
        "Write a recipient that is `self`.",
        "contract 5.3",
        Breach.FORMAT,
        fields=("Recipient.self",),
        importer="An importer rejects the backup: it cannot tell whose messages these are.",
    ),
    rule(
        "release-notes.once",
        "There is a second recipient for release notes.",
        "Write one at most.",
        "contract 5.3",
        Breach.FORMAT,
        fields=("Recipient.releaseNotes",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "recipient.id.zero",
        "The id of a recipient is 0.",
        "Number the recipients from 1.",
        "contract 5.3",
        Breach.FORMAT,
        required("Recipient.id"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "recipient.id.unique",
        "Another recipient has the same id.",
        "Give each recipient an id of its own.",
        "contract 5.3",
        Breach.FORMAT,
        fields=("Recipient.id",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "recipient.destination.set",
        "The recipient has no type, or an unknown one.",
        "Write who it is, or leave the frame out.",
        "spec 2, spec 7, contract 5.6",
        Breach.SKIPPED,
        one_of_fields("Recipient.destination"),
        importer="An importer skips the frame, and references to it cannot be resolved.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "recipient.username.unique",
        "Another contact has the same username.",
        "Write each person once.",
        "contract 5.3",
        Breach.CARE,
        fields=("Contact.username",),
    ),
    rule(
        "recipient.e164.unique",
        "Another contact has the same phone number.",
        "Write each person once.",
        "contract 5.3",
        Breach.CARE,
        fields=("Contact.e164",),
    ),
    rule(
        "recipient.aci.unique",
        "Another contact has the same account id.",
        "Write each person once.",
        "contract 5.3",
        Breach.CARE,
        fields=("Contact.aci",),
    ),
    rule(
        "recipient.pni.unique",
        "Another contact has the same phone number id.",
        "Write each person once.",
        "contract 5.3",
        Breach.CARE,
        fields=("Contact.pni",),
    ),
    rule(
        "recipient.group.unique",
        "Another group has the same master key.",
        "Write each group once.",
        "contract 5.3",
        Breach.CARE,
        fields=("Group.masterKey",),
    ),
    rule(
        "recipient.list.unique",
        "Another story list has the same id.",
        "Write each list once.",
        "contract 5.3",
        Breach.CARE,
        fields=("DistributionListItem.distributionId",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "recipient.call-link.unique",
        "Another call link has the same root key.",
        "Write each link once.",
        "contract 5.3",
        Breach.CARE,
        fields=("CallLink.rootKey",),
        repairs=(DROP_RECORD,),
    ),
)
