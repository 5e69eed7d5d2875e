"""Calls: individual calls, group calls and calls by link."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import known, of_kind, refers
from holdfast.backup.rules.repairs import DROP_RECORD, MOVE_UP, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

CALLERS = ("GroupCall.ringerRecipientId", "GroupCall.startedCallRecipientId")

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "ad-hoc-call.recipient.known",
        "The call was through a link that is not defined earlier.",
        "Write the call link before the call.",
        "spec 1 rule 2, contract 5.10",
        Breach.REFERENCE,
        refers("AdHocCall.recipientId"),
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "ad-hoc-call.recipient.kind",
        "The call was through something that is not a call link.",
        "Name the call link.",
        "spec 2, contract 5.10",
        Breach.REFERENCE,
        of_kind(kinds.one_of(kinds.CALL_LINK), "AdHocCall.recipientId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "ad-hoc-call.state.known",
        "The state of the call through a link is unknown.",
        "Write that it is generic.",
        "spec 2, spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("AdHocCall.state"),
        importer="An importer treats it as generic.",
        repairs=(put("The call is generic.", state=1),),
    ),
    rule(
        "individual-call.type.known",
        "The type of the call, audio or video, is unknown.",
        "Write audio or video.",
        "spec 2, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.type"),
        importer="An importer treats it as an audio call.",
        repairs=(put("It was an audio call.", type=1),),
    ),
    rule(
        "individual-call.direction.known",
        "The direction of the call is unknown.",
        "Write incoming or outgoing.",
        "spec 2, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.direction"),
        importer="An importer treats it as incoming.",
        repairs=(put("The call was incoming.", direction=1),),
    ),
    rule(
        "individual-call.state.known",
        "The state of the call is unknown.",
        "Write whether it was taken.",
        "spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.state"),
        importer="An importer treats it as accepted.",
        repairs=(put("The call was accepted.", state=1),),
    ),
    rule(
        "group-call.state.known",
        "The state of the group call is unknown.",
        "Write its state.",
        "spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("GroupCall.state"),
        importer="An importer treats it as a call without ringing.",
        repairs=(put("The call was one without ringing.", state=1),),
    ),
    rule(
        "group-call.caller.known",
        "The caller is not defined earlier.",
        "Write the caller before the update, or leave it out.",
        "spec 1 rule 2, contract 5.10",
        Breach.REFERENCE,
        refers(*CALLERS),
        repairs=(MOVE_UP, discard("Who called is left out.")),
    ),
    rule(
        "group-call.caller.kind",
        "The caller is neither the user nor a contact with an account id.",
        "Name who called, or leave it out.",
        "contract 5.10",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS_WITH_ACI | kinds.one_of(kinds.SELF), *CALLERS),
        repairs=(discard("Who called is left out."),),
    ),
)
