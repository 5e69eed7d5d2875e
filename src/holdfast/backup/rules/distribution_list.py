"""Distribution lists (`DistributionListItem`): who sees a story."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import known, length, of_kind, one_of_fields, refers, unique
from holdfast.backup.rules.repairs import DROP_DUPLICATE, DROP_ELEMENT, DROP_RECORD, MOVE_UP, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "distribution-list.id.length",
        "The id of the story list does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 8, contract 5.6",
        Breach.FORMAT,
        length(16, "DistributionListItem.distributionId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.id.random",
        "The id of the story list is not a random UUID.",
        "Make it a UUID of version 4.",
        "spec 2, spec 8",
        Breach.CARE,
        fields=("DistributionListItem.distributionId",),
        only_import=True,
    ),
    rule(
        "distribution-list.item.set",
        "The story list is neither there nor deleted.",
        "Write the list, or when it was deleted.",
        "spec 2, spec 7, contract 5.6",
        Breach.SKIPPED,
        one_of_fields("DistributionListItem.item"),
        importer="An importer passes over the list.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.my-story.kept",
        "The built-in story list is said to be deleted, which it cannot be.",
        "Write the list.",
        "contract 5.6",
        Breach.CARE,
        fields=("DistributionListItem.distributionId", "DistributionListItem.deletionTimestamp"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.member.known",
        "A member of the story list has not appeared.",
        "Write the contact before the list.",
        "spec 1 rule 2, contract 5.6",
        Breach.REFERENCE,
        refers("DistributionList.memberRecipientIds"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "distribution-list.member.kind",
        "A member of the story list is not a contact that can be reached.",
        "Name only contacts with an account id or a phone number id.",
        "contract 5.6",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS_ON_THE_SERVICE, "DistributionList.memberRecipientIds"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "distribution-list.member.unique",
        "A member stands in the story list twice.",
        "Name each once.",
        "contract 5.6",
        Breach.CARE,
        unique("DistributionList.memberRecipientIds"),
        repairs=(DROP_DUPLICATE,),
    ),
    rule(
        "distribution-list.privacy-mode.known",
        "It is not known who can see the stories of the list.",
        "Write only with, all except, or all.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        known("DistributionList.privacyMode"),
        importer="An importer shows them only to the members.",
        repairs=(put("The list is only for its members.", privacyMode=1),),
    ),
    rule(
        "distribution-list.privacy-mode.my-story",
        "Only the built-in story list can be for all, or for all with exceptions.",
        "Write the members of this one.",
        "contract 5.6",
        Breach.CARE,
        fields=("DistributionListItem.distributionId", "DistributionList.privacyMode"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "distribution-list.my-story.all",
        "The built-in story list is for all, and has members too.",
        "Leave the members out.",
        "contract 5.6",
        Breach.CARE,
        fields=(
            "DistributionListItem.distributionId",
            "DistributionList.privacyMode",
            "DistributionList.memberRecipientIds",
        ),
        repairs=(
            discard("The members of a list that is for all are left out.", "distributionList.memberRecipientIds"),
        ),
    ),
    rule(
        "distribution-list.my-story.except",
        "The built-in story list is for all with exceptions, but has none.",
        "Write that it is for all.",
        "contract 5.6",
        Breach.CARE,
        fields=(
            "DistributionListItem.distributionId",
            "DistributionList.privacyMode",
            "DistributionList.memberRecipientIds",
        ),
        repairs=(put("The list is for all.", "distributionList", privacyMode=3),),
    ),
)
