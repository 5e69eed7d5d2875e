"""Rules about several fields of a record at once, for all records but messages: account, people, chats, folders.

A method is called when its message has been read to its end, with how deep it lies.
"""

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.rules.value_checks import Values

__all__ = ["Records"]

USERNAME = cython.declare(cython.uint, field("AccountData.username"))
USERNAME_LINK = cython.declare(cython.uint, field("AccountData.usernameLink"))
LINK_ALONE = cython.declare(cython.uint, number_of_rule("account.username-link.username"))
TIER = cython.declare(cython.uint, field("AccountData.AccountSettings.backupTier"))
OPTIMIZE = cython.declare(cython.uint, field("AccountData.AccountSettings.optimizeOnDeviceStorage"))
FREE = cython.declare(cython.ulonglong, 200)
PAID = cython.declare(cython.ulonglong, 201)
TIER_KNOWN = cython.declare(cython.uint, number_of_rule("settings.backup-tier.known"))
OPTIMIZE_PAID = cython.declare(cython.uint, number_of_rule("settings.optimize-storage.tier"))

COLORS = cython.declare(cython.uint, field("ChatStyle.Gradient.colors"))
POSITIONS = cython.declare(cython.uint, field("ChatStyle.Gradient.positions"))
# The bits of 1.0 as a float; of -0.0 all but the sign are those of 0.0.
FLOAT_ONE = cython.declare(cython.ulonglong, 0x3F800000)
SIGN = cython.declare(cython.ulonglong, 0x7FFFFFFF)
GRADIENT_STOPS = cython.declare(cython.uint, number_of_rule("gradient.stops"))
CHAT = cython.declare(cython.uint, MESSAGE_BY_NAME["Chat"])
CUSTOM_COLOR = cython.declare(cython.uint, field("ChatStyle.customColorId"))
COLOR_KNOWN = cython.declare(cython.uint, number_of_rule("chat-style.color.known"))

ACI = cython.declare(cython.uint, field("Contact.aci"))
PNI = cython.declare(cython.uint, field("Contact.pni"))
E164 = cython.declare(cython.uint, field("Contact.e164"))
CONTACT_IDENTIFIED = cython.declare(cython.uint, number_of_rule("contact.identifier"))
BLOCKED = cython.declare(cython.uint, field("Contact.blocked"))
BLOCKED_AT = cython.declare(cython.uint, field("Contact.blockedAtTimestamp"))
CONTACT_BLOCKED_AT = cython.declare(cython.uint, number_of_rule("contact.blocked-at.blocked"))
IDENTITY_KEY = cython.declare(cython.uint, field("Contact.identityKey"))
IDENTITY_STATE = cython.declare(cython.uint, field("Contact.identityState"))
IDENTITY_STATE_KEY = cython.declare(cython.uint, number_of_rule("contact.identity-state.key"))
GIVEN = cython.declare(cython.uint, field("Contact.Name.given"))
FAMILY = cython.declare(cython.uint, field("Contact.Name.family"))
NICKNAME_EMPTY = cython.declare(cython.uint, number_of_rule("contact.nickname.empty"))

GROUP_BLOCKED = cython.declare(cython.uint, field("Group.blocked"))
GROUP_BLOCKED_AT_FIELD = cython.declare(cython.uint, field("Group.blockedAtTimestamp"))
GROUP_BLOCKED_AT = cython.declare(cython.uint, number_of_rule("group.blocked-at.blocked"))
TITLE = cython.declare(cython.uint, field("Group.GroupSnapshot.title"))
TIMER = cython.declare(cython.uint, field("Group.GroupSnapshot.disappearingMessagesTimer"))
BLOB_TITLE = cython.declare(cython.uint, field("Group.GroupAttributeBlob.title"))
BLOB_TIMER = cython.declare(cython.uint, field("Group.GroupAttributeBlob.disappearingMessagesDuration"))
BLOB_DESCRIPTION = cython.declare(cython.uint, field("Group.GroupAttributeBlob.descriptionText"))
BLOB_UNSET = cython.declare(cython.uint, number_of_rule("group.attribute.set"))
BLOB_KIND = cython.declare(cython.uint, number_of_rule("group.attribute.kind"))
PENDING = cython.declare(cython.uint, MESSAGE_BY_NAME["Group.MemberPendingProfileKey"])
USER_ID = cython.declare(cython.uint, field("Group.Member.userId"))
LABEL_EMOJI = cython.declare(cython.uint, field("Group.Member.labelEmoji"))
LABEL_STRING = cython.declare(cython.uint, field("Group.Member.labelString"))
MEMBER_ID = cython.declare(cython.uint, number_of_rule("group.member.id"))
PENDING_ID = cython.declare(cython.uint, number_of_rule("group.pending-member.id"))
LABEL_ALONE = cython.declare(cython.uint, number_of_rule("group.member.label"))
PENDING_LABEL = cython.declare(cython.uint, number_of_rule("group.pending-member.label"))
ADDED_BY = cython.declare(cython.uint, field("Group.MemberPendingProfileKey.addedByUserId"))
INVITED_SELF = cython.declare(cython.uint, number_of_rule("group.pending-member.inviter.other"))
ACI_SIZE = cython.declare(cython.Py_ssize_t, 16)

LIST_ID = cython.declare(cython.uint, field("DistributionListItem.distributionId"))
DELETED = cython.declare(cython.uint, field("DistributionListItem.deletionTimestamp"))
MODE = cython.declare(cython.uint, field("DistributionList.privacyMode"))
MEMBERS = cython.declare(cython.uint, field("DistributionList.memberRecipientIds"))
ALL_EXCEPT = cython.declare(cython.ulonglong, 2)
ALL = cython.declare(cython.ulonglong, 3)
MY_STORY_DELETED = cython.declare(cython.uint, number_of_rule("distribution-list.my-story.kept"))
MODE_MY_STORY = cython.declare(cython.uint, number_of_rule("distribution-list.privacy-mode.my-story"))
MY_STORY_ALL = cython.declare(cython.uint, number_of_rule("distribution-list.my-story.all"))
MY_STORY_EXCEPT = cython.declare(cython.uint, number_of_rule("distribution-list.my-story.except"))
LIST_ID_V4 = cython.declare(cython.uint, number_of_rule("distribution-list.id.random"))

EPOCH = cython.declare(cython.uint, field("CallLink.epoch"))
EPOCH_SIZE = cython.declare(cython.Py_ssize_t, 4)
EPOCH_LENGTH = cython.declare(cython.uint, number_of_rule("call-link.epoch.length"))

TIMER_MS = cython.declare(cython.uint, field("Chat.expirationTimerMs"))
TIMER_VERSION = cython.declare(cython.uint, field("Chat.expireTimerVersion"))
TIMER_VERSIONED = cython.declare(cython.uint, number_of_rule("chat.expiration-timer.version"))

FOLDER_NAME = cython.declare(cython.uint, field("ChatFolder.name"))
ONLY_UNREAD = cython.declare(cython.uint, field("ChatFolder.showOnlyUnread"))
SHOW_MUTED = cython.declare(cython.uint, field("ChatFolder.showMutedChats"))
ALL_INDIVIDUAL = cython.declare(cython.uint, field("ChatFolder.includeAllIndividualChats"))
ALL_GROUPS = cython.declare(cython.uint, field("ChatFolder.includeAllGroupChats"))
FOLDER_TYPE = cython.declare(cython.uint, field("ChatFolder.folderType"))
INCLUDED = cython.declare(cython.uint, field("ChatFolder.includedRecipientIds"))
EXCLUDED = cython.declare(cython.uint, field("ChatFolder.excludedRecipientIds"))
FOLDER_ALL = cython.declare(cython.ulonglong, 1)
FOLDER_CUSTOM = cython.declare(cython.ulonglong, 2)
ALL_NAMED = cython.declare(cython.uint, number_of_rule("chat-folder.all.name"))
ALL_UNREAD = cython.declare(cython.uint, number_of_rule("chat-folder.all.unread"))
ALL_MUTED = cython.declare(cython.uint, number_of_rule("chat-folder.all.muted"))
ALL_EVERYBODY = cython.declare(cython.uint, number_of_rule("chat-folder.all.everybody"))
ALL_CHOSEN = cython.declare(cython.uint, number_of_rule("chat-folder.all.recipients"))
CUSTOM_NAMED = cython.declare(cython.uint, number_of_rule("chat-folder.custom.name"))

# Notes of a list item: the mode of its list, and how many members that has, one more each.
NOTE_MODE = cython.declare(cython.int, 0)
NOTE_MEMBERS = cython.declare(cython.int, 1)
# Notes of somebody invited to a group: where their id begins, and how long it is.
NOTE_START = cython.declare(cython.int, 0)
NOTE_SIZE = cython.declare(cython.int, 1)
# Notes of a gradient: the bits of its first two positions.
NOTE_FIRST = cython.declare(cython.int, 0)


class Records(Values):
    """A ground on which records other than messages are checked."""

    def account(self, depth: cython.int) -> cython.void:
        """Check the account."""
        if self.has(depth, USERNAME_LINK) and not self.has(depth, USERNAME):
            self.report_field(LINK_ALONE, depth, USERNAME_LINK)

    def settings(self, depth: cython.int) -> cython.void:
        """Check the settings of the account."""
        tier: cython.ulonglong = self.value(depth, TIER)
        if self.has(depth, TIER) and tier not in (FREE, PAID):
            self.report_field(TIER_KNOWN, depth, TIER)
        elif self.holds(depth, OPTIMIZE) and tier != PAID:
            self.report_field(OPTIMIZE_PAID, depth, OPTIMIZE)

    def gradient(self, depth: cython.int) -> cython.void:
        """Check a gradient: two colours, one at each end."""
        first: cython.ulonglong = self.note(depth, NOTE_FIRST)
        second: cython.ulonglong = self.note(depth, NOTE_FIRST + 1)
        ends: cython.bint = (first & SIGN == 0 and second == FLOAT_ONE) or (
            first == FLOAT_ONE and second & SIGN == 0
        )
        if self.value(depth, COLORS) != 2 or self.value(depth, POSITIONS) != 2 or not ends:
            self.report_field(GRADIENT_STOPS, depth, 0)

    def style(self, depth: cython.int) -> cython.void:
        """Check that the colour a chat names is there; the account's own style may name one that follows it."""
        if (
            self.messages[depth - 1] == CHAT
            and self.has(depth, CUSTOM_COLOR)
            and self.colors.find(self.value(depth, CUSTOM_COLOR), self.frame) < 0
        ):
            self.report_field(COLOR_KNOWN, depth, CUSTOM_COLOR)

    def contact(self, depth: cython.int) -> cython.void:
        """Check a contact."""
        if not (self.has(depth, ACI) or self.has(depth, PNI) or self.has(depth, E164)):
            self.report_field(CONTACT_IDENTIFIED, depth, 0)
        if self.holds(depth, BLOCKED_AT) and not self.holds(depth, BLOCKED):
            self.report_field(CONTACT_BLOCKED_AT, depth, BLOCKED_AT)
        if self.holds(depth, IDENTITY_STATE) and not self.has(depth, IDENTITY_KEY):
            self.report_field(IDENTITY_STATE_KEY, depth, IDENTITY_STATE)

    def nickname(self, depth: cython.int) -> cython.void:
        """Check the name the user gave to a contact."""
        if not (self.holds(depth, GIVEN) or self.holds(depth, FAMILY)):
            self.report_field(NICKNAME_EMPTY, depth, 0)

    def group(self, depth: cython.int) -> cython.void:
        """Check a group."""
        if self.holds(depth, GROUP_BLOCKED_AT_FIELD) and not self.holds(depth, GROUP_BLOCKED):
            self.report_field(GROUP_BLOCKED_AT, depth, GROUP_BLOCKED_AT_FIELD)

    def attribute(self, depth: cython.int) -> cython.void:
        """Check that an attribute of a group is what its field says."""
        where: cython.ulonglong = cython.cast(cython.ulonglong, self.steps[depth - 1])
        wanted: cython.uint = BLOB_DESCRIPTION
        if where == cython.cast(cython.ulonglong, self.slot(depth - 1, TITLE)):
            wanted = BLOB_TITLE
        elif where == cython.cast(cython.ulonglong, self.slot(depth - 1, TIMER)):
            wanted = BLOB_TIMER
        if not self.seen[depth]:
            self.report_field(BLOB_UNSET, depth, 0)
        elif not self.has(depth, wanted):
            self.report_field(BLOB_KIND, depth, 0)

    def member(self, depth: cython.int) -> cython.void:
        """Check a member, or somebody who is invited to be one."""
        start: cython.Py_ssize_t = self.start(depth, USER_ID)
        size: cython.Py_ssize_t = self.size(depth, USER_ID)
        if self.messages[depth - 1] == PENDING:
            if not self.is_service_id(start, size, True):
                self.report_field(PENDING_ID, depth, USER_ID)
                size = 0
            self.set_note(depth - 1, NOTE_START, cython.cast(cython.ulonglong, start))
            self.set_note(depth - 1, NOTE_SIZE, cython.cast(cython.ulonglong, size))
            if self.holds(depth, LABEL_EMOJI) or self.holds(depth, LABEL_STRING):
                self.report_field(PENDING_LABEL, depth, 0)
            return
        if not self.is_service_id(start, size, False):
            self.report_field(MEMBER_ID, depth, USER_ID)
        if self.holds(depth, LABEL_EMOJI) and not self.holds(depth, LABEL_STRING):
            self.report_field(LABEL_ALONE, depth, LABEL_EMOJI)

    def invited(self, depth: cython.int) -> cython.void:
        """Check that nobody invited themselves."""
        one: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.note(depth, NOTE_START))
        size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.note(depth, NOTE_SIZE))
        other: cython.Py_ssize_t = self.start(depth, ADDED_BY)
        if size == ACI_SIZE and self.size(depth, ADDED_BY) == size and self.same(one, other, size):
            self.report_field(INVITED_SELF, depth, ADDED_BY)

    def same(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
        """Compare bytes."""
        index: cython.Py_ssize_t = 0
        while index < size and self.data[one + index] == self.data[other + index]:
            index += 1
        return index == size

    def distribution_list(self, depth: cython.int) -> cython.void:
        """Tell the item around a list what it must know."""
        self.set_note(depth - 1, NOTE_MODE, self.value(depth, MODE) + 1)
        self.set_note(depth - 1, NOTE_MEMBERS, self.value(depth, MEMBERS) + 1)

    def list_item(self, depth: cython.int) -> cython.void:
        """Check what only the built-in list may be."""
        start: cython.Py_ssize_t = self.start(depth, LIST_ID)
        index: cython.Py_ssize_t
        mine: cython.bint = True
        mode: cython.ulonglong = self.note(depth, NOTE_MODE)
        members: cython.ulonglong = self.note(depth, NOTE_MEMBERS)
        if self.size(depth, LIST_ID) != ACI_SIZE:
            return
        for index in range(start, start + ACI_SIZE):
            if self.data[index]:
                mine = False
        if not mine:
            if self.data[start + 6] >> 4 != 4 or self.data[start + 8] >> 6 != 2:
                self.report_field(LIST_ID_V4, depth, LIST_ID)
            if mode in (ALL + 1, ALL_EXCEPT + 1):
                self.report_field(MODE_MY_STORY, depth, 0)
            return
        if self.has(depth, DELETED):
            self.report_field(MY_STORY_DELETED, depth, DELETED)
        if mode == ALL + 1 and members > 1:
            self.report_field(MY_STORY_ALL, depth, 0)
        if mode == ALL_EXCEPT + 1 and members == 1:
            self.report_field(MY_STORY_EXCEPT, depth, 0)

    def call_link(self, depth: cython.int) -> cython.void:
        """Check the epoch of a call link, which old ones have empty."""
        size: cython.Py_ssize_t = self.size(depth, EPOCH)
        if size not in (0, EPOCH_SIZE):
            self.report_field(EPOCH_LENGTH, depth, EPOCH)

    def chat(self, depth: cython.int) -> cython.void:
        """Check a chat."""
        if self.has(depth, TIMER_MS) and not self.holds(depth, TIMER_VERSION):
            self.report_field(TIMER_VERSIONED, depth, TIMER_MS)

    def folder(self, depth: cython.int) -> cython.void:
        """Check a folder: the one of all chats has nothing to choose."""
        kind: cython.ulonglong = self.value(depth, FOLDER_TYPE)
        if kind == FOLDER_CUSTOM and not self.holds(depth, FOLDER_NAME):
            self.report_field(CUSTOM_NAMED, depth, FOLDER_NAME)
        if kind != FOLDER_ALL:
            return
        if self.holds(depth, FOLDER_NAME):
            self.report_field(ALL_NAMED, depth, FOLDER_NAME)
        if self.holds(depth, ONLY_UNREAD):
            self.report_field(ALL_UNREAD, depth, ONLY_UNREAD)
        if not self.holds(depth, SHOW_MUTED):
            self.report_field(ALL_MUTED, depth, SHOW_MUTED)
        if not self.holds(depth, ALL_INDIVIDUAL):
            self.report_field(ALL_EVERYBODY, depth, ALL_INDIVIDUAL)
        if not self.holds(depth, ALL_GROUPS):
            self.report_field(ALL_EVERYBODY, depth, ALL_GROUPS)
        if self.value(depth, INCLUDED):
            self.report_field(ALL_CHOSEN, depth, INCLUDED)
        if self.value(depth, EXCLUDED):
            self.report_field(ALL_CHOSEN, depth, EXCLUDED)
