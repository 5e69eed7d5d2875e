"""Chat updates: identities, timers, profiles, merged chats, pins."""

from holdfast.backup.schema.backup_pb2 import ChatItem, ChatUpdateMessage, SimpleChatUpdate
from holdfast_demo.sample.chats import ChatKind
from holdfast_demo.sample.item_context import By, Fill, ItemContext
from holdfast_demo.sample.people import DAY

__all__ = [
    "SIMPLE_UPDATES",
    "learned_number",
    "learned_username",
    "pin",
    "profile_change",
    "session_switchover",
    "simple",
    "thread_merge",
    "timer",
]

# Simple updates, with the kind of chat they occur in and their author.
SIMPLE_UPDATES: tuple[tuple[SimpleChatUpdate.Type.ValueType, ChatKind, By], ...] = (
    (SimpleChatUpdate.JOINED_SERVICE, "friend", "other"),
    (SimpleChatUpdate.IDENTITY_UPDATE, "group", "other"),
    (SimpleChatUpdate.IDENTITY_VERIFIED, "friend", "other"),
    (SimpleChatUpdate.IDENTITY_DEFAULT, "friend", "other"),
    (SimpleChatUpdate.CHANGE_NUMBER, "group", "other"),
    (SimpleChatUpdate.RELEASE_CHANNEL_DONATION_REQUEST, "news", "other"),
    (SimpleChatUpdate.END_SESSION, "friend", "anyone"),
    (SimpleChatUpdate.CHAT_SESSION_REFRESH, "friend", "other"),
    (SimpleChatUpdate.BAD_DECRYPT, "friend", "other"),
    (SimpleChatUpdate.PAYMENTS_ACTIVATED, "friend", "other"),
    (SimpleChatUpdate.PAYMENT_ACTIVATION_REQUEST, "friend", "anyone"),
    (SimpleChatUpdate.UNSUPPORTED_PROTOCOL_MESSAGE, "friend", "other"),
    (SimpleChatUpdate.REPORTED_SPAM, "stranger", "me"),
    (SimpleChatUpdate.BLOCKED, "stranger", "me"),
    (SimpleChatUpdate.UNBLOCKED, "friend", "me"),
    (SimpleChatUpdate.MESSAGE_REQUEST_ACCEPTED, "friend", "me"),
)


def update(item: ChatItem) -> ChatUpdateMessage:
    """Make an item directionless, as updates are, and return its body."""
    item.directionless.SetInParent()
    return item.updateMessage


def simple(kind: SimpleChatUpdate.Type.ValueType) -> Fill:
    """Return a function that adds a simple update."""

    def fill(item: ChatItem, _context: ItemContext) -> None:
        update(item).simpleUpdate.type = kind

    return fill


def timer(days: int) -> Fill:
    """Return a function that sets the timer for disappearing messages; 0 disables it."""

    def fill(item: ChatItem, _context: ItemContext) -> None:
        change = update(item).expirationTimerChange
        change.SetInParent()
        change.expiresInMs = days * DAY

    return fill


def profile_change(item: ChatItem, context: ItemContext) -> None:
    """Add a change of a profile name."""
    change = update(item).profileChange
    change.previousName = context.author.given
    change.newName = context.author.name


def learned_number(item: ChatItem, context: ItemContext) -> None:
    """Add an update: the profile of a phone number became known."""
    update(item).learnedProfileChange.e164 = context.author.e164


def learned_username(item: ChatItem, context: ItemContext) -> None:
    """Add an update: the profile of a username became known."""
    update(item).learnedProfileChange.username = context.author.username


def thread_merge(item: ChatItem, context: ItemContext) -> None:
    """Add an update: two chats with the same person were merged."""
    update(item).threadMerge.previousE164 = context.author.e164


def session_switchover(item: ChatItem, context: ItemContext) -> None:
    """Add an update: a phone number turned out to belong to the person."""
    update(item).sessionSwitchover.e164 = context.author.e164


def pin(item: ChatItem, context: ItemContext) -> None:
    """Add an update: the last message was pinned."""
    earlier = context.chat.recent[-1]
    change = update(item).pinMessage
    change.targetSentTimestamp = earlier.sent
    change.authorId = earlier.author
