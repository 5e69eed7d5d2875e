"""Standard messages (`StandardMessage`): text, formatting, mentions, link previews."""

from typing import Final

from holdfast.backup.rules.checks import length, one_of_fields, required
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, Fix, RepairAction, discard
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

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
    ),
    rule(
        "text.body.empty",
        "The text is there and empty.",
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
        length(16, "BodyRange.mentionAci"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "voice-message.alone",
        "A voice message has a text or a link beside it.",
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
