"""Describes updates of a chat in one sentence, from the templates in `sentence_templates`."""

from collections.abc import Callable, Mapping
from typing import Final

from holdfast.backup.archives.sentence_templates import SENTENCES
from holdfast.backup.bidi import isolated

__all__ = ["SENTENCES", "format_duration", "sentence"]

UNITS: Final = (
    ("week", 604_800_000),
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
)
# The field with the acting person, if it is not `updaterAci`.
DOERS: Final = {
    "groupMemberRemovedUpdate": "removerAci",
    "selfInvitedToGroupUpdate": "inviterAci",
    "groupUnknownInviteeUpdate": "inviterAci",
    "groupInvitationAcceptedUpdate": "inviterAci",
    "groupInvitationDeclinedUpdate": "inviterAci",
    "groupSelfInvitationRevokedUpdate": "revokerAci",
}
MEMBERS: Final = (
    "memberAci",
    "aci",
    "removedAci",
    "inviteeServiceId",
    "newMemberAci",
    "inviteeAci",
    "requestorAci",
)
SWITCHES: Final = {
    "groupAnnouncementOnlyChangeUpdate": "isAnnouncementOnly",
    "groupAdminStatusUpdate": "wasAdminStatusGranted",
    "groupJoinRequestApprovalUpdate": "wasApproved",
    "groupInviteLinkEnabledUpdate": "linkRequiresAdminApproval",
    "groupInviteLinkAdminApprovalUpdate": "linkRequiresAdminApproval",
}
COUNTS: Final = {
    "groupUnknownInviteeUpdate": "inviteeCount",
    "groupV2MigrationInvitedMembersUpdate": "invitedMembersCount",
    "groupV2MigrationDroppedMembersUpdate": "droppedMembersCount",
    "groupSequenceOfRequestsAndCancelsUpdate": "count",
}

# Returns the name for a service id or an id of the archive: empty for the owner, None if unknown.
Namer = Callable[[object], str | None]


def format_duration(milliseconds: int, table: Mapping[str, str] = SENTENCES) -> str:
    """Format a duration in the largest unit that divides it."""
    for unit, size in UNITS:
        if milliseconds >= size and milliseconds % size == 0:
            n = milliseconds // size
            return table[f"time.{unit}" if n == 1 else f"time.{unit}s"].format(n=n)
    seconds = max(1, milliseconds // 1000)
    return table["time.second" if seconds == 1 else "time.seconds"].format(n=seconds)


def sentence(
    kind: str, details: Mapping[str, object], author: object, name: Namer, table: Mapping[str, str] = SENTENCES
) -> str:
    """Return the sentence for an update; `author` is the author of the message."""
    builder = SentenceBuilder(details, author, name, table)
    return builder.build(kind)


class SentenceBuilder:
    """Builds the sentence of one update."""

    def __init__(
        self, details: Mapping[str, object], author: object, name: Namer, table: Mapping[str, str]
    ) -> None:
        self.details = details
        self.author = author
        self.name = name
        self.table = table

    def name_of(self, person: object, *, first: bool) -> str:
        """Return the name of a person, at the beginning of a sentence or inside it."""
        name = None if person is None or person == "" else self.name(person)
        key = "you" if name == "" else "somebody"
        return name or self.table[key if first else f"{key}.inside"]

    def fill(self, key: str, doer: object, **values: object) -> str:
        """Fill the template for the acting person."""
        name = None if doer is None or doer == "" else self.name(doer)
        end = "" if name is None else ".you" if name == "" else ".who"
        template = self.table.get(key + end) or self.table[key]
        values.setdefault("who", self.name_of(doer, first=template.startswith("{who}")))
        values.setdefault("member", self.name_of(self.member(), first=template.startswith("{member}")))
        shown = {key: isolated(value) if isinstance(value, str) else value for key, value in values.items()}
        return fix_verb(template.format(**shown), template, values)

    def member(self) -> object:
        """Return the member that a group change is about."""
        return next((self.details[field] for field in MEMBERS if self.details.get(field)), None)

    def number(self, field: str) -> int:
        """Return a numeric field, 0 if it is missing."""
        value = self.details.get(field, 0)
        return value if isinstance(value, int) else 0

    def build(self, kind: str) -> str:
        """Return the sentence for a kind of update."""
        special = getattr(self, f"say_{kind}", None)
        if special is not None:
            return str(special())
        if kind.startswith("simpleUpdate."):
            return self.fill(kind, self.author) if kind in self.table else self.table["genericGroupUpdate"]
        key, values = kind, dict[str, object]()
        if kind in SWITCHES:
            key += ".on" if self.details.get(SWITCHES[kind]) else ".off"
        elif kind in COUNTS:
            values["count"] = self.number(COUNTS[kind])
            key += ".one" if values["count"] == 1 else ".many"
        elif "accessLevel" in self.details:
            values["level"] = self.table.get(
                f"level.{self.details['accessLevel']}", self.table["level.UNSATISFIABLE"]
            )
        if key not in self.table:
            key = "genericGroupUpdate"
        return self.fill(key, self.details.get(DOERS.get(kind, "updaterAci")), **values)

    def say_groupNameUpdate(self) -> str:  # noqa: N802  # named after the field
        """Describe a new group name."""
        name = self.details.get("newGroupName")
        key = "groupNameUpdate" if name else "groupNameUpdate.removed"
        return self.fill(key, self.details.get("updaterAci"), name=name)

    def say_groupDescriptionUpdate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a new group description."""
        text = self.details.get("newDescription")
        key = "groupDescriptionUpdate" if text else "groupDescriptionUpdate.removed"
        return self.fill(key, self.details.get("updaterAci"), text=text)

    def say_groupAvatarUpdate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a new or removed group picture."""
        key = "groupAvatarUpdate.removed" if self.details.get("wasRemoved") else "groupAvatarUpdate"
        return self.fill(key, self.details.get("updaterAci"))

    def say_groupMemberAddedUpdate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe an added member."""
        invited = self.details.get("hadOpenInvitation")
        return self.fill(
            "groupMemberAddedUpdate.invited" if invited else "groupMemberAddedUpdate",
            self.details.get("updaterAci"),
        )

    def say_groupInvitationRevokedUpdate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe revoked invitations."""
        invitees = self.details.get("invitees")
        people = invitees if isinstance(invitees, list) else []
        doer = self.details.get("updaterAci")
        if len(people) == 1:
            pni = people[0].get("inviteePni")
            invitee = people[0].get("inviteeAci") or (f"PNI:{pni}" if pni else None)
            member = self.name_of(invitee, first=False)
            return self.fill("groupInvitationRevokedUpdate.one", doer, member=member)
        return self.fill("groupInvitationRevokedUpdate.many", doer, count=len(people))

    def say_groupExpirationTimerUpdate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe the disappearing messages timer of a group."""
        return self.timer("groupExpirationTimerUpdate", self.details.get("updaterAci"))

    def say_expirationTimerChange(self) -> str:  # noqa: N802  # named after the record's field
        """Describe the disappearing messages timer of a chat."""
        return self.timer("expirationTimerChange", self.author)

    def timer(self, key: str, doer: object) -> str:
        """Describe a disappearing messages timer and who set it."""
        time = self.number("expiresInMs")
        if not time:
            return self.fill(f"{key}.off", doer)
        return self.fill(key, doer, time=format_duration(time, self.table))

    def say_profileChange(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a changed profile name."""
        before, after = self.details.get("previousName"), self.details.get("newName")
        return self.fill("profileChange", self.author, before=before, after=after)

    def say_learnedProfileChange(self) -> str:  # noqa: N802  # named after the record's field
        """Describe how a person was shown before their profile name was known."""
        number = self.number("e164")
        before = f"+{number}" if number else self.details.get("username")
        return self.fill(
            "learnedProfileChange" if before else "learnedProfileChange.unknown", self.author, before=before
        )

    def say_threadMerge(self) -> str:  # noqa: N802  # named after the record's field
        """Describe two merged chats."""
        return self.numbered("threadMerge", "previousE164")

    def say_sessionSwitchover(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a session switchover."""
        return self.numbered("sessionSwitchover", "e164")

    def numbered(self, key: str, field: str) -> str:
        """Fill a template with a phone number, or its variant without one."""
        number = self.number(field)
        return self.fill(key if number else f"{key}.unknown", self.author, number=f"+{number}")

    def say_pollTerminate(self) -> str:  # noqa: N802  # named after the record's field
        """Describe an ended poll."""
        return self.fill("pollTerminate", self.author, question=self.details.get("question"))

    def say_pinMessage(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a pinned message."""
        author = self.name_of(self.details.get("authorId"), first=False)
        return self.fill("pinMessage", self.author, author=author)

    def say_individualCall(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a one-to-one call."""
        call = self.table[f"call.{self.details.get('type') or 'AUDIO_CALL'}"]
        direction, state = self.details.get("direction") or "INCOMING", self.details.get("state") or "ACCEPTED"
        return self.fill(f"individualCall.{direction}.{state}", self.author, call=call)

    def say_groupCall(self) -> str:  # noqa: N802  # named after the record's field
        """Describe a group call."""
        state = self.details.get("state") or "GENERIC"
        starter, ringer = self.details.get("startedCallRecipientId"), self.details.get("ringerRecipientId")
        doer = starter if state in {"GENERIC", "JOINED"} else ringer
        key = f"groupCall.{state}"
        template = self.table[key]
        return self.fill(
            key,
            doer,
            starter=self.name_of(starter, first=not template.startswith("You")),
            ringer=self.name_of(ringer, first=not template.startswith("You")),
        )


def fix_verb(text: str, template: str, values: Mapping[str, object]) -> str:
    """Correct the English verb after "You" at the beginning: is, was, has."""
    start = next((name for name in ("{who}", "{member}") if template.startswith(name)), None)
    if start is None or values.get(start.strip("{}")) != "You":
        return text
    for wrong, right in (("You is ", "You are "), ("You was ", "You were "), ("You has ", "You have ")):
        text = text.replace(wrong, right, 1) if text.startswith(wrong) else text
    return text.replace("their profile name", "your profile name")
