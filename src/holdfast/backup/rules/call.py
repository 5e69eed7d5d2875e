"""Calls: individual, of groups, and through call links."""

from typing import Final

from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.wire import kinds
from holdfast.backup.wire.checks import known, of_kind, refers

__all__ = ["RULES"]

CALLERS = ("GroupCall.ringerRecipientId", "GroupCall.startedCallRecipientId")

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "ad-hoc-call.recipient.known",
        "The call was through a link that has not appeared.",
        "Write the call link before the call.",
        "spec 1 rule 2, contract 5.10",
        Breach.REFERENCE,
        refers("AdHocCall.recipientId"),
    ),
    rule(
        "ad-hoc-call.recipient.kind",
        "The call was through something that is not a call link.",
        "Name the call link.",
        "spec 2, contract 5.10",
        Breach.REFERENCE,
        of_kind(kinds.one_of(kinds.CALL_LINK), "AdHocCall.recipientId"),
    ),
    rule(
        "ad-hoc-call.state.known",
        "What became of the call is not known.",
        "Write that it is generic.",
        "spec 2, spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("AdHocCall.state"),
        importer="An importer takes it for generic.",
    ),
    rule(
        "individual-call.type.known",
        "It is not known whether the call had a picture.",
        "Write audio or video.",
        "spec 2, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.type"),
        importer="An importer takes it for an audio call.",
    ),
    rule(
        "individual-call.direction.known",
        "It is not known who called.",
        "Write incoming or outgoing.",
        "spec 2, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.direction"),
        importer="An importer takes it for incoming.",
    ),
    rule(
        "individual-call.state.known",
        "It is not known what became of the call.",
        "Write whether it was taken.",
        "spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("IndividualCall.state"),
        importer="An importer takes it for accepted.",
    ),
    rule(
        "group-call.state.known",
        "It is not known what became of the group's call.",
        "Write its state.",
        "spec 3, contract 5.10",
        Breach.DEFAULTED,
        known("GroupCall.state"),
        importer="An importer takes it for a call without ringing.",
    ),
    rule(
        "group-call.caller.known",
        "Somebody who called has not appeared.",
        "Write the caller before the update, or leave it out.",
        "spec 1 rule 2, contract 5.10",
        Breach.REFERENCE,
        refers(*CALLERS),
    ),
    rule(
        "group-call.caller.kind",
        "One that called is neither the user nor a contact with an account id.",
        "Name who called, or leave it out.",
        "contract 5.10",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS_WITH_ACI | kinds.one_of(kinds.SELF), *CALLERS),
    ),
)
