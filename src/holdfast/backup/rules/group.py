"""Groups (`Group`) and the snapshot of their state."""

from typing import Final

from holdfast.backup.rules.checks import among, known, length, required, service_id
from holdfast.backup.rules.repairs import DROP_ELEMENT, clear, discard, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule

__all__ = ["RULES"]

# Levels of access, as `Group.AccessControl.AccessRequired` numbers them.
UNKNOWN, ANY, MEMBER, ADMINISTRATOR, UNSATISFIABLE = range(5)
ATTRIBUTES: Final = (
    *(f"Group.GroupSnapshot.{name}" for name in ("title", "description", "disappearingMessagesTimer")),
    *(
        f"Group.GroupAttributeBlob.{name}"
        for name in ("title", "avatar", "disappearingMessagesDuration", "descriptionText")
    ),
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "group.master-key.length",
        "The master key does not have 32 bytes.",
        "Write all of it.",
        "contract 5.6",
        Breach.FORMAT,
        length(32, "Group.masterKey"),
    ),
    rule(
        "group.snapshot.present",
        "The group has no copy of its state.",
        "Write what is known of the group.",
        "contract 5.6",
        Breach.CARE,
        required("Group.snapshot"),
        importer="An importer has to ask the server for it.",
    ),
    rule(
        "group.blocked-at.blocked",
        "There is a date of blocking, but the group is not blocked.",
        "Leave the date out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.blockedAtTimestamp", "Group.blocked"),
        editions=CURRENT,
        repairs=(clear("The date of blocking a group that is not blocked is left out."),),
    ),
    rule(
        "group.attribute.set",
        "The title, description or timer of the group is there and empty.",
        "Leave the field out.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        fields=ATTRIBUTES,
        importer="An importer takes it for missing.",
        repairs=(clear("The empty attribute is left out."),),
    ),
    rule(
        "group.attribute.kind",
        "The title, description or timer of the group holds something else.",
        "Write what the field is for.",
        "contract 5.6",
        Breach.CARE,
        fields=ATTRIBUTES,
    ),
    rule(
        "group.access.level",
        "The level of access is one this setting cannot have.",
        "Write members or administrators.",
        "contract 5.6",
        Breach.CARE,
        among(
            {UNKNOWN, MEMBER, ADMINISTRATOR},
            "Group.AccessControl.attributes",
            "Group.AccessControl.members",
            "Group.AccessControl.memberLabel",
        ),
    ),
    rule(
        "group.access.link",
        "Members cannot be the ones a group's link is for.",
        "Write anybody, administrators, or that there is no link.",
        "contract 5.6",
        Breach.CARE,
        among({UNKNOWN, ANY, ADMINISTRATOR, UNSATISFIABLE}, "Group.AccessControl.addFromInviteLink"),
    ),
    rule(
        "group.access.known",
        "It is not known who may change the group, its members or its link.",
        "Write the level of access.",
        "spec 2",
        Breach.DEFAULTED,
        fields=(
            "Group.AccessControl.attributes",
            "Group.AccessControl.members",
            "Group.AccessControl.addFromInviteLink",
        ),
        importer="An importer takes it that nobody may.",
        only_import=True,
    ),
    rule(
        "group.access.label-known",
        "It is not known who may change the labels of the group's members.",
        "Write the level of access.",
        "contract 1.1, spec 2",
        Breach.DEFAULTED,
        fields=("Group.AccessControl.memberLabel",),
        importer="An importer takes it that nobody may.",
        only_import=True,
        editions=CURRENT,
    ),
    rule(
        "group.member.id",
        "The id of a member is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        fields=("Group.Member.userId",),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.member.role",
        "The role of a member is not known.",
        "Write whether it is an administrator.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        known("Group.Member.role"),
        importer="An importer takes it for an ordinary member.",
        repairs=(put("The member is an ordinary one.", role=1),),
    ),
    rule(
        "group.member.label",
        "A member has the emoji of a label, but no label.",
        "Leave the emoji out, or write the label.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.Member.labelEmoji", "Group.Member.labelString"),
        editions=CURRENT,
        repairs=(discard("The emoji of a label that is not there is left out."),),
    ),
    rule(
        "group.pending-member.present",
        "It does not say who is invited.",
        "Write the member, or leave the invitation out.",
        "contract 5.6",
        Breach.CARE,
        required("Group.MemberPendingProfileKey.member"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.id",
        "The id of somebody invited is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        fields=("Group.Member.userId",),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.inviter",
        "The id of who invited is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberPendingProfileKey.addedByUserId", pni=False),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.inviter.other",
        "Somebody invited themselves.",
        "Write who invited them, or make them a member.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.MemberPendingProfileKey.addedByUserId", "Group.Member.userId"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.pending-member.label",
        "Somebody who is only invited has a label.",
        "Leave the label out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Group.Member.labelEmoji", "Group.Member.labelString"),
        editions=CURRENT,
        repairs=(discard("The label is left out.", "labelEmoji", "labelString"),),
    ),
    rule(
        "group.requesting-member.id",
        "The id of somebody who asks to join is not that of an account.",
        "Write the 16 bytes of the account id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberPendingAdminApproval.userId", pni=False),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "group.banned-member.id",
        "The id of somebody banned is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.6",
        Breach.FORMAT,
        service_id("Group.MemberBanned.userId", pni=True),
        repairs=(DROP_ELEMENT,),
    ),
)
