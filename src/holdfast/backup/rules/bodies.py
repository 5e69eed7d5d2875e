"""Rules about several fields at once of what messages hold: texts, files, quotes, reactions, polls, payments.

A method is called when its message has been read to its end, with how deep it lies.
"""

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field
from holdfast.backup.rules.records import Records
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.wire.layout import NOTES
    from holdfast.backup.wire.layout import WIDTH as ROW

__all__ = ["NOTE_MARK", "Bodies"]

BODY = cython.declare(cython.uint, field("Text.body"))
RANGES = cython.declare(cython.uint, field("Text.bodyRanges"))
QUOTE = cython.declare(cython.uint, MESSAGE_BY_NAME["Quote"])
TEXT_REPLY = cython.declare(cython.uint, MESSAGE_BY_NAME["DirectStoryReplyMessage.TextReply"])
LONGEST_TEXT = cython.declare(cython.Py_ssize_t, 128 * 1024)
LONGEST_START = cython.declare(cython.ulonglong, 2048)
TEXT_EMPTY = cython.declare(cython.uint, number_of_rule("text.body.empty"))
TEXT_LENGTH = cython.declare(cython.uint, number_of_rule("text.body.length"))
LONG_TEXT_BODY = cython.declare(cython.uint, number_of_rule("text.long.body"))
STYLE = cython.declare(cython.uint, field("BodyRange.style"))
STYLE_NONE = cython.declare(cython.uint, number_of_rule("body-range.style.none"))

TEXT = cython.declare(cython.uint, field("StandardMessage.text"))
ATTACHMENTS = cython.declare(cython.uint, field("StandardMessage.attachments"))
LINKS = cython.declare(cython.uint, field("StandardMessage.linkPreview"))
LONG_TEXT = cython.declare(cython.uint, field("StandardMessage.longText"))
STANDARD_EMPTY = cython.declare(cython.uint, number_of_rule("standard-message.content"))
LONG_TEXT_ALONE = cython.declare(cython.uint, number_of_rule("text.long.text"))
VOICE_ALONE = cython.declare(cython.uint, number_of_rule("voice-message.alone"))
REPLY_LONG_TEXT = cython.declare(cython.uint, field("DirectStoryReplyMessage.TextReply.longText"))

FLAG = cython.declare(cython.uint, field("MessageAttachment.flag"))
VOICE = cython.declare(cython.ulonglong, 1)
QUOTED = cython.declare(cython.uint, MESSAGE_BY_NAME["Quote.QuotedAttachment"])
QUOTED_VOICE = cython.declare(cython.uint, number_of_rule("quote.thumbnail.voice"))

CHAT_STYLE = cython.declare(cython.uint, MESSAGE_BY_NAME["ChatStyle"])
MAC = cython.declare(cython.uint, field("FilePointer.incrementalMac"))
MAC_CHUNK = cython.declare(cython.uint, field("FilePointer.incrementalMacChunkSize"))
FILE_NAME = cython.declare(cython.uint, field("FilePointer.fileName"))
WIDTH = cython.declare(cython.uint, field("FilePointer.width"))
HEIGHT = cython.declare(cython.uint, field("FilePointer.height"))
CAPTION = cython.declare(cython.uint, field("FilePointer.caption"))
MAC_PAIR = cython.declare(cython.uint, number_of_rule("file.incremental-mac.pair"))
WALLPAPER_PLAIN = cython.declare(cython.uint, number_of_rule("chat-style.wallpaper.plain"))

KEY = cython.declare(cython.uint, field("FilePointer.LocatorInfo.key"))
CDN_KEY = cython.declare(cython.uint, field("FilePointer.LocatorInfo.transitCdnKey"))
CDN_NUMBER = cython.declare(cython.uint, field("FilePointer.LocatorInfo.transitCdnNumber"))
UPLOADED = cython.declare(cython.uint, field("FilePointer.LocatorInfo.transitTierUploadTimestamp"))
MEDIA_CDN = cython.declare(cython.uint, field("FilePointer.LocatorInfo.mediaTierCdnNumber"))
LOCAL_KEY = cython.declare(cython.uint, field("FilePointer.LocatorInfo.localKey"))
HASH = cython.declare(cython.uint, field("FilePointer.LocatorInfo.plaintextHash"))
DIGEST = cython.declare(cython.uint, field("FilePointer.LocatorInfo.encryptedDigest"))
TRANSIT_PAIR = cython.declare(cython.uint, number_of_rule("locator.transit.pair"))
TRANSIT_UPLOADED = cython.declare(cython.uint, number_of_rule("locator.transit.uploaded"))
INTEGRITY = cython.declare(cython.uint, number_of_rule("locator.integrity.set"))
DIGEST_TRANSIT = cython.declare(cython.uint, number_of_rule("locator.digest.transit"))
KEY_MISSING = cython.declare(cython.uint, number_of_rule("locator.key.set"))
LOCAL_KEY_HASH = cython.declare(cython.uint, number_of_rule("locator.local-key.hash"))
MEDIA_CDN_HASH = cython.declare(cython.uint, number_of_rule("locator.media-tier.hash"))

QUOTE_TEXT = cython.declare(cython.uint, field("Quote.text"))
QUOTE_ATTACHMENTS = cython.declare(cython.uint, field("Quote.attachments"))
QUOTE_TYPE = cython.declare(cython.uint, field("Quote.type"))
NORMAL = cython.declare(cython.ulonglong, 1)
QUOTE_EMPTY = cython.declare(cython.uint, number_of_rule("quote.content"))
QUOTE_LENGTH = cython.declare(cython.uint, number_of_rule("quote.text.length"))

REACTION_AUTHOR = cython.declare(cython.uint, field("Reaction.authorId"))
REACTION_TWICE = cython.declare(cython.uint, number_of_rule("reaction.author.unique"))

CARD_NAME_EMPTY = cython.declare(cython.uint, number_of_rule("contact-card.name.empty"))
ADDRESS_TYPE = cython.declare(cython.uint, field("ContactAttachment.PostalAddress.type"))
ADDRESS_LABEL = cython.declare(cython.uint, field("ContactAttachment.PostalAddress.label"))
ADDRESS_EMPTY = cython.declare(cython.uint, number_of_rule("contact-card.address.empty"))

PUBLIC_KEYS = cython.declare(
    cython.uint, field("PaymentNotification.TransactionDetails.CoinTxoIdentification.publicKey")
)
KEY_IMAGES = cython.declare(
    cython.uint, field("PaymentNotification.TransactionDetails.CoinTxoIdentification.keyImages")
)
PAYMENT_LEDGER = cython.declare(cython.uint, number_of_rule("payment.identification.one"))

PRESENTATION = cython.declare(cython.uint, field("GiftBadge.receiptCredentialPresentation"))
GIFT_STATE = cython.declare(cython.uint, field("GiftBadge.state"))
GIFT_FAILED = cython.declare(cython.ulonglong, 3)
GIFT_PRESENTATION = cython.declare(cython.uint, number_of_rule("gift-badge.presentation"))
GIFT_FAILED_EMPTY = cython.declare(cython.uint, number_of_rule("gift-badge.failed.empty"))

OPTIONS = cython.declare(cython.uint, field("Poll.options"))
ALLOW_MULTIPLE = cython.declare(cython.uint, field("Poll.allowMultiple"))
POLL_OPTIONS = cython.declare(cython.uint, number_of_rule("poll.options.count"))
VOTER = cython.declare(cython.uint, field("Poll.PollOption.PollVote.voterId"))
VOTE_TWICE = cython.declare(cython.uint, number_of_rule("poll.vote.voter.unique"))
VOTE_SINGLE = cython.declare(cython.uint, number_of_rule("poll.vote.single"))

PINNED_AT = cython.declare(cython.uint, field("ChatItem.PinDetails.pinnedAtTimestamp"))
PIN_EXPIRES = cython.declare(cython.uint, field("ChatItem.PinDetails.pinExpiresAtTimestamp"))
PIN_NEVER = cython.declare(cython.uint, field("ChatItem.PinDetails.pinNeverExpires"))
PIN_EXPIRY = cython.declare(cython.uint, number_of_rule("pin.expiry.set"))
PIN_ORDER = cython.declare(cython.uint, number_of_rule("pin.expiry.later"))

# Notes of whatever holds a text, an attachment or a poll's options: the size of the text and the flag of the
# attachment, one more each; and which option somebody voted for who had voted for another, one more too.
ONE = cython.declare(cython.ulonglong, 1)
NOTE_TEXT = cython.declare(cython.int, 0)
NOTE_FLAG = cython.declare(cython.int, 1)
NOTE_VOTED = cython.declare(cython.int, 2)
# A note of the message around: it was spoken.
NOTE_MARK = 7
_NOTE_MARK = cython.declare(cython.int, NOTE_MARK)


class Bodies(Records):
    """A ground on which the parts of messages are checked."""

    def text(self, depth: cython.int) -> cython.void:
        """Check a text; one that is plain and not quoted may be of any length."""
        size: cython.Py_ssize_t = self.sizes[depth * ROW + BODY] if (self.seen[depth] >> BODY) & 1 else 0
        around: cython.uint = self.messages[depth - 1]
        self.notes[(depth - 1) * NOTES + NOTE_TEXT] = cython.cast(cython.ulonglong, size) + 1
        if not (self.seen[depth] >> RANGES) & 1 and around not in (QUOTE, TEXT_REPLY):
            return
        if size == 0:
            self.report_field(TEXT_EMPTY, depth, BODY)
        elif size > LONGEST_TEXT:
            self.report(TEXT_LENGTH, depth, BODY, -1, cython.cast(cython.ulonglong, size) + 1, 0, 0)

    def body_range(self, depth: cython.int) -> cython.void:
        """Check a range: one without style says nothing."""
        if self.has(depth, STYLE) and self.value(depth, STYLE) == 0:
            self.report_field(STYLE_NONE, depth, STYLE)

    def standard(self, depth: cython.int) -> cython.void:
        """Check an ordinary message, which may be a voice message."""
        seen: cython.ulonglong = self.seen[depth]
        has_text: cython.bint = (seen >> TEXT) & 1 != 0
        attachments: cython.ulonglong = 0
        if (seen >> ATTACHMENTS) & 1:
            attachments = self.values[depth * ROW + ATTACHMENTS]
        if attachments == 1 and self.note(depth, NOTE_FLAG) == VOICE + 1:
            self.set_note(depth - 1, _NOTE_MARK, 1)
            if has_text:
                self.report_field(VOICE_ALONE, depth, TEXT)
            if self.has(depth, LONG_TEXT):
                self.report_field(VOICE_ALONE, depth, LONG_TEXT)
            if self.value(depth, LINKS):
                self.report_field(VOICE_ALONE, depth, LINKS)
            return
        if not has_text and attachments == 0:
            self.report_field(STANDARD_EMPTY, depth, 0)
        if (seen >> LONG_TEXT) & 1:
            if not has_text:
                if attachments:
                    self.report_field(LONG_TEXT_ALONE, depth, LONG_TEXT)
            elif self.note(depth, NOTE_TEXT) > LONGEST_START + 1:
                self.report_field(LONG_TEXT_BODY, depth, TEXT)

    def text_reply(self, depth: cython.int) -> cython.void:
        """Check the text of an answer to a story."""
        if self.has(depth, REPLY_LONG_TEXT) and self.note(depth, NOTE_TEXT) > LONGEST_START + 1:
            self.report_field(LONG_TEXT_BODY, depth, 0)

    def attachment(self, depth: cython.int) -> cython.void:
        """Check an attachment, and tell the message around it what it is."""
        flag: cython.ulonglong = self.value(depth, FLAG)
        self.set_note(depth - 1, NOTE_FLAG, flag + 1)
        if flag == VOICE and self.messages[depth - 1] == QUOTED:
            self.report_field(QUOTED_VOICE, depth, FLAG)

    def file(self, depth: cython.int) -> cython.void:
        """Check what is said about a file."""
        if self.has(depth, MAC) != self.has(depth, MAC_CHUNK):
            self.report_field(MAC_PAIR, depth, MAC if self.has(depth, MAC) else MAC_CHUNK)
        if self.messages[depth - 1] == CHAT_STYLE and (
            self.has(depth, FILE_NAME)
            or self.has(depth, WIDTH)
            or self.has(depth, HEIGHT)
            or self.has(depth, CAPTION)
        ):
            self.report_field(WALLPAPER_PLAIN, depth, 0)

    def locator(self, depth: cython.int) -> cython.void:
        """Check where a file is said to be; an empty locator says that it is nowhere."""
        transit: cython.bint
        hashed: cython.bint
        if not self.filled[depth]:
            return
        transit = self.has(depth, CDN_KEY) and self.has(depth, CDN_NUMBER)
        hashed = self.has(depth, HASH)
        if self.has(depth, CDN_KEY) != self.has(depth, CDN_NUMBER):
            self.report_field(TRANSIT_PAIR, depth, CDN_KEY if self.has(depth, CDN_KEY) else CDN_NUMBER)
            transit = True
        elif self.has(depth, UPLOADED) and not transit:
            self.report_field(TRANSIT_UPLOADED, depth, UPLOADED)
        if not hashed and not self.has(depth, DIGEST):
            self.report_field(INTEGRITY, depth, 0)
            return
        if not hashed and not transit:
            self.report_field(DIGEST_TRANSIT, depth, DIGEST)
        elif not self.holds(depth, KEY):
            self.report_field(KEY_MISSING, depth, KEY)
        if not hashed and self.has(depth, LOCAL_KEY):
            self.report_field(LOCAL_KEY_HASH, depth, LOCAL_KEY)
        if not hashed and self.has(depth, MEDIA_CDN):
            self.report_field(MEDIA_CDN_HASH, depth, MEDIA_CDN)

    def quote(self, depth: cython.int) -> cython.void:
        """Check a quote."""
        size: cython.ulonglong = self.note(depth, NOTE_TEXT)
        if (
            self.value(depth, QUOTE_TYPE) == NORMAL
            and not self.has(depth, QUOTE_TEXT)
            and self.value(depth, QUOTE_ATTACHMENTS) == 0
        ):
            self.report_field(QUOTE_EMPTY, depth, 0)
        if LONGEST_START + 1 < size <= cython.cast(cython.ulonglong, LONGEST_TEXT) + 1:
            self.report(QUOTE_LENGTH, depth, QUOTE_TEXT, -1, size, 0, 0)

    def reaction(self, depth: cython.int) -> cython.void:
        """Check that nobody reacts twice."""
        at: cython.Py_ssize_t = self.starts[depth * ROW + REACTION_AUTHOR]
        if not (self.filled[depth] >> REACTION_AUTHOR) & 1 or at < 0:
            return
        if self.reacted_in[at] == self.serials[depth - 1]:
            self.report_field(REACTION_TWICE, depth, REACTION_AUTHOR)
        self.reacted_in[at] = self.serials[depth - 1]

    def card_name(self, depth: cython.int) -> cython.void:
        """Check the name on a contact card."""
        if self.filled[depth] == 0:
            self.report_field(CARD_NAME_EMPTY, depth, 0)

    def address(self, depth: cython.int) -> cython.void:
        """Check a postal address."""
        if self.filled[depth] & ~(ONE << ADDRESS_TYPE | ONE << ADDRESS_LABEL) == 0:
            self.report_field(ADDRESS_EMPTY, depth, 0)

    def coins(self, depth: cython.int) -> cython.void:
        """Check that a payment is either received or sent."""
        if (self.value(depth, PUBLIC_KEYS) == 0) == (self.value(depth, KEY_IMAGES) == 0):
            self.report_field(PAYMENT_LEDGER, depth, 0)

    def gift(self, depth: cython.int) -> cython.void:
        """Check a gift badge; whether a presentation is one is for others to say."""
        start: cython.Py_ssize_t = self.start(depth, PRESENTATION)
        size: cython.Py_ssize_t = self.size(depth, PRESENTATION)
        if self.value(depth, GIFT_STATE) != GIFT_FAILED:
            self.report(GIFT_PRESENTATION, depth, PRESENTATION, -1, 0, start, start + size)
        elif size:
            self.report_field(GIFT_FAILED_EMPTY, depth, PRESENTATION)

    def poll(self, depth: cython.int) -> cython.void:
        """Check a poll."""
        voted: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.note(depth, NOTE_VOTED))
        if self.value(depth, OPTIONS) < 2:
            self.report_field(POLL_OPTIONS, depth, OPTIONS)
        if voted and not self.holds(depth, ALLOW_MULTIPLE):
            self.report(VOTE_SINGLE, depth, OPTIONS, voted - 1, 0, 0, 0)

    def vote(self, depth: cython.int) -> cython.void:
        """Check that nobody votes for an option twice, and remember who votes for two.

        Rounds only go up: a mark set since the poll began is of one of its options.
        """
        at: cython.Py_ssize_t = self.start(depth, VOTER)
        if not self.holds(depth, VOTER) or at < 0:
            return
        if self.listed_in[at] == self.serials[depth - 1] << 6:
            self.report_field(VOTE_TWICE, depth, VOTER)
        elif self.listed_in[at] > self.serials[depth - 2] << 6 and self.note(depth - 2, NOTE_VOTED) == 0:
            self.set_note(depth - 2, NOTE_VOTED, cython.cast(cython.ulonglong, self.elements[depth - 2] + 1))
        self.listed_in[at] = self.serials[depth - 1] << 6

    def pin(self, depth: cython.int) -> cython.void:
        """Check until when a message is pinned."""
        if not self.has(depth, PIN_EXPIRES) and self.value(depth, PIN_NEVER) == 0:
            self.report_field(PIN_EXPIRY, depth, 0)
        elif self.has(depth, PIN_EXPIRES) and self.value(depth, PIN_EXPIRES) < self.value(depth, PINNED_AT):
            self.report_field(PIN_ORDER, depth, PIN_EXPIRES)
