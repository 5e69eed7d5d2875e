"""Standard messages (`StandardMessage`): text, formatting, mentions, link previews."""

from typing import Final

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, UUID_SIZE, field, length, one_of_fields, required
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, Fix, RepairAction, discard
from holdfast.backup.rules.rule import Breach, Rule, max_bytes, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_BODY, NOTE_FLAG, NOTE_VOICE
    from holdfast.backup.wire.layout import NOTES, WIDTH

__all__ = ["BODY_LIMIT", "EXCERPT_LIMIT", "RULES"]

# The longest text that has formatting or is quoted; and the longest excerpt of a text that is stored in a file.
BODY_LIMIT: Final = max_bytes(spec=128 * 1024, current=128 * 1024)
EXCERPT_LIMIT: Final = max_bytes(spec=2048, current=2048)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "standard-message.content",
        "The message has neither text nor attachment.",
        "Write what was said, or leave the message out.",
        "contract 5.9",
        Breach.CARE,
        fields=("StandardMessage.text", "StandardMessage.attachments"),
        importer="An importer shows an empty message.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "text.long.text",
        "There is the file of a long text, but not the beginning of the text.",
        "Write the first 2048 bytes as the text.",
        "contract 5.9",
        Breach.CARE,
        fields=("StandardMessage.longText", "StandardMessage.text"),
        repairs=(discard("The file of the long text is left out."),),
    ),
    rule(
        "text.long.body",
        "The text is longer than 2048 bytes, although the whole of it is in a file.",
        "Cut the text to its first 2048 bytes.",
        "contract 5.9",
        Breach.FORMAT,
        fields=(
            "StandardMessage.longText",
            "StandardMessage.text",
            "DirectStoryReplyMessage.TextReply.longText",
            "Text.body",
        ),
        limit=EXCERPT_LIMIT,
    ),
    rule(
        "text.body.empty",
        "The text is present but empty.",
        "Leave the text out.",
        "contract 5.9",
        Breach.CARE,
        fields=("Text.body", "Text.bodyRanges"),
        repairs=(discard("The empty text is left out, with what is said about ranges of it.", up="text"),),
    ),
    rule(
        "text.body.length",
        "The text is longer than 128 KiB.",
        "Put the whole of it into a file.",
        "contract 5.9",
        Breach.FORMAT,
        fields=("Text.body", "Text.bodyRanges"),
        limit=BODY_LIMIT,
    ),
    rule(
        "body-range.value.set",
        "A range of the text has neither a style nor a mention.",
        "Leave the range out.",
        "spec 2, spec 7, contract 5.9",
        Breach.SKIPPED,
        one_of_fields("BodyRange.associatedValue"),
        importer="An importer ignores the range.",
        repairs=(Fix(RepairAction.DROP_ELEMENT, "The range, which importers ignore, is left out."),),
    ),
    rule(
        "body-range.style.none",
        "A range of the text has no style.",
        "Leave the range out.",
        "spec 7",
        Breach.SKIPPED,
        fields=("BodyRange.style",),
        importer="An importer ignores the range.",
        only_import=True,
    ),
    rule(
        "body-range.mention.length",
        "The account id of somebody mentioned does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "contract 1.5, contract 5.9",
        Breach.FORMAT,
        length(UUID_SIZE, "BodyRange.mentionAci"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "voice-message.alone",
        "A voice message has a text or a link preview.",
        "Leave out what was not spoken.",
        "contract 5.9",
        Breach.CARE,
        fields=(
            "MessageAttachment.flag",
            "StandardMessage.text",
            "StandardMessage.longText",
            "StandardMessage.linkPreview",
        ),
    ),
    rule(
        "link-preview.url",
        "The preview of a link does not say which link.",
        "Write the address, or leave the preview out.",
        "contract 5.9",
        Breach.CARE,
        required("LinkPreview.url"),
        repairs=(DROP_ELEMENT,),
    ),
)

if not cython.compiled:
    BODY = field("Text.body")
    RANGES = field("Text.bodyRanges")
    STYLE = field("BodyRange.style")
    TEXT = field("StandardMessage.text")
    ATTACHMENTS = field("StandardMessage.attachments")
    LINKS = field("StandardMessage.linkPreview")
    LONG_TEXT = field("StandardMessage.longText")
    REPLY_LONG_TEXT = field("DirectStoryReplyMessage.TextReply.longText")
    QUOTE = MESSAGE_BY_NAME["Quote"]
    TEXT_REPLY = MESSAGE_BY_NAME["DirectStoryReplyMessage.TextReply"]
    LONGEST_BODY = BODY_LIMIT.strictest
    LONGEST_EXCERPT = EXCERPT_LIMIT.strictest
    VOICE = backup_pb2.MessageAttachment.Flag.VOICE_MESSAGE
    BODY_EMPTY = number_of_rule("text.body.empty")
    BODY_LENGTH = number_of_rule("text.body.length")
    STYLE_NONE = number_of_rule("body-range.style.none")
    CONTENT = number_of_rule("standard-message.content")
    LONG_TEXT_TEXT = number_of_rule("text.long.text")
    LONG_TEXT_BODY = number_of_rule("text.long.body")
    VOICE_ALONE = number_of_rule("voice-message.alone")


def check_text(context: RuleContext, depth: cython.int) -> cython.void:
    """Check a text; a text without formatting that is not quoted may have any length."""
    size: cython.Py_ssize_t = context.sizes[depth * WIDTH + BODY] if (context.seen[depth] >> BODY) & 1 else 0
    around: cython.uint = context.messages[depth - 1]
    context.notes[(depth - 1) * NOTES + NOTE_BODY] = cython.cast(cython.ulonglong, size) + 1
    if not (context.seen[depth] >> RANGES) & 1 and around not in (QUOTE, TEXT_REPLY):
        return
    if size == 0:
        context.report_field(BODY_EMPTY, depth, BODY)
    elif size > LONGEST_BODY:
        context.report(BODY_LENGTH, depth, BODY, -1, cython.cast(cython.ulonglong, size) + 1, 0, 0)


def check_body_range(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a range has a style."""
    if context.has(depth, STYLE) and context.value(depth, STYLE) == 0:
        context.report_field(STYLE_NONE, depth, STYLE)


def check_standard_message(context: RuleContext, depth: cython.int) -> cython.void:
    """Check a standard message, which may be a voice message."""
    seen: cython.ulonglong = context.seen[depth]
    has_text: cython.bint = (seen >> TEXT) & 1 != 0
    attachments: cython.ulonglong = 0
    if (seen >> ATTACHMENTS) & 1:
        attachments = context.values[depth * WIDTH + ATTACHMENTS]
    if attachments == 1 and context.note(depth, NOTE_FLAG) == VOICE + 1:
        context.set_note(depth - 1, NOTE_VOICE, 1)
        if has_text:
            context.report_field(VOICE_ALONE, depth, TEXT)
        if context.has(depth, LONG_TEXT):
            context.report_field(VOICE_ALONE, depth, LONG_TEXT)
        if context.value(depth, LINKS):
            context.report_field(VOICE_ALONE, depth, LINKS)
        return
    if not has_text and attachments == 0:
        context.report_field(CONTENT, depth, 0)
    if (seen >> LONG_TEXT) & 1:
        if not has_text:
            if attachments:
                context.report_field(LONG_TEXT_TEXT, depth, LONG_TEXT)
        elif context.note(depth, NOTE_BODY) > LONGEST_EXCERPT + 1:
            context.report(LONG_TEXT_BODY, depth, TEXT, -1, context.note(depth, NOTE_BODY), 0, 0)


def check_text_reply(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the length of a story reply whose full text is in a file."""
    if context.has(depth, REPLY_LONG_TEXT) and context.note(depth, NOTE_BODY) > LONGEST_EXCERPT + 1:
        context.report(LONG_TEXT_BODY, depth, 0, -1, context.note(depth, NOTE_BODY), 0, 0)


if not cython.compiled:
    CHECKS = {
        "DirectStoryReplyMessage.TextReply": check_text_reply,
        "Text": check_text,
        "BodyRange": check_body_range,
        "StandardMessage": check_standard_message,
    }
