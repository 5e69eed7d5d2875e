"""Chat styles (`ChatStyle`): bubble colours, custom colours, gradients, wallpapers."""

from typing import Final

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field, known, one_of_fields, opaque, required
from holdfast.backup.rules.repairs import EMPTY, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

DROP_COLOR: Final = discard("The colour, which cannot be one, is left out.", up="customChatColors")
# The number of colours of a gradient.
STOPS: Final = 2

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "custom-color.id.zero",
        "The id of a colour is 0.",
        "Number the colours from 1.",
        "contract 5.4",
        Breach.FORMAT,
        required("ChatStyle.CustomChatColor.id"),
        repairs=(DROP_COLOR,),
    ),
    rule(
        "custom-color.id.unique",
        "Two colours have the same id.",
        "Give each colour an id of its own.",
        "contract 5.4",
        Breach.FORMAT,
        fields=("ChatStyle.CustomChatColor.id",),
        repairs=(DROP_COLOR,),
    ),
    rule(
        "custom-color.set",
        "The colour is neither solid nor a gradient.",
        "Write the colour, or leave it out.",
        "spec 2, spec 7, contract 5.4",
        Breach.DEFAULTED,
        one_of_fields("ChatStyle.CustomChatColor.color"),
        importer="An importer uses the default colour.",
        repairs=(DROP_COLOR,),
    ),
    rule(
        "custom-color.opaque",
        "The colour is not opaque.",
        "Write 0xFF as its highest byte.",
        "contract 5.4",
        Breach.CARE,
        opaque("ChatStyle.CustomChatColor.solid", "ChatStyle.Gradient.colors"),
        repairs=(DROP_COLOR,),
    ),
    rule(
        "gradient.stops",
        "The gradient does not have two colours, one at each end.",
        "Write two colours with the positions 0 and 1.",
        "contract 5.5",
        Breach.CARE,
        fields=("ChatStyle.Gradient.colors", "ChatStyle.Gradient.positions"),
        repairs=(DROP_COLOR,),
    ),
    rule(
        "chat-style.bubble.set",
        "The style does not say which colour messages have.",
        "Write that it is automatic.",
        "spec 2, spec 7, contract 5.5",
        Breach.DEFAULTED,
        one_of_fields("ChatStyle.bubbleColor"),
        importer="An importer uses the automatic colour.",
        repairs=(put("The colour is the automatic one.", autoBubbleColor=EMPTY),),
    ),
    rule(
        "chat-style.preset.known",
        "The preset of a colour or wallpaper is unknown.",
        "Write a known one, or leave it out.",
        "spec 2, contract 5.5",
        Breach.DEFAULTED,
        known("ChatStyle.wallpaperPreset", "ChatStyle.bubbleColorPreset"),
        importer="An importer uses the default.",
        repairs=(discard("The preset, which has no name, is left out."),),
    ),
    rule(
        "chat-style.color.known",
        "The style names a colour that is not defined earlier.",
        "Write the colour into the account, before what names it.",
        "spec 1 rule 2, spec 2, contract 5.5",
        Breach.REFERENCE,
        fields=("ChatStyle.customColorId", "ChatStyle.CustomChatColor.id"),
        repairs=(discard("The name of a colour that is not there is left out."),),
    ),
    rule(
        "chat-style.wallpaper.plain",
        "The wallpaper has a file name, a size or a caption.",
        "Leave them out: no app reads them.",
        "spec 2",
        Breach.CARE,
        fields=(
            "ChatStyle.wallpaperPhoto",
            "FilePointer.fileName",
            "FilePointer.width",
            "FilePointer.height",
            "FilePointer.caption",
        ),
        importer="An importer ignores them.",
        only_import=True,
    ),
)

if not cython.compiled:
    COLORS = field("ChatStyle.Gradient.colors")
    POSITIONS = field("ChatStyle.Gradient.positions")
    CUSTOM_COLOR = field("ChatStyle.customColorId")
    CHAT = MESSAGE_BY_NAME["Chat"]
    CHAT_STYLE = MESSAGE_BY_NAME["ChatStyle"]
    DESCRIPTION = sum(1 << field(f"FilePointer.{name}") for name in ("fileName", "width", "height", "caption"))
    _STOPS = STOPS
    # The bits of 1.0 as a float; of -0.0 all but the sign are those of 0.0.
    FLOAT_ONE = 0x3F800000
    SIGN = 0x7FFFFFFF
    GRADIENT_STOPS = number_of_rule("gradient.stops")
    COLOR_KNOWN = number_of_rule("chat-style.color.known")
    WALLPAPER_PLAIN = number_of_rule("chat-style.wallpaper.plain")
    # Notes of a gradient: the bits of its first two positions.
    NOTE_FIRST = 0
    NOTE_SECOND = 1


def check_gradient(context: RuleContext, depth: cython.int) -> cython.void:
    """Check a gradient: two colours, one at each end."""
    first: cython.ulonglong = context.note(depth, NOTE_FIRST)
    second: cython.ulonglong = context.note(depth, NOTE_SECOND)
    ends: cython.bint = (first & SIGN == 0 and second == FLOAT_ONE) or (first == FLOAT_ONE and second & SIGN == 0)
    if context.value(depth, COLORS) != _STOPS or context.value(depth, POSITIONS) != _STOPS or not ends:
        context.report_field(GRADIENT_STOPS, depth, 0)


def check_style(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that the custom colour of a chat exists; the default style may refer to one that comes later."""
    if (
        context.messages[depth - 1] == CHAT
        and context.has(depth, CUSTOM_COLOR)
        and context.colors.find(context.value(depth, CUSTOM_COLOR), context.frame) < 0
    ):
        context.report_field(COLOR_KNOWN, depth, CUSTOM_COLOR)


def check_wallpaper(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that the file pointer of a wallpaper has no descriptive fields."""
    if context.messages[depth - 1] == CHAT_STYLE and context.seen[depth] & DESCRIPTION:
        context.report_field(WALLPAPER_PLAIN, depth, 0)


if not cython.compiled:
    CHECKS = {
        "FilePointer": check_wallpaper,
        "ChatStyle.Gradient": check_gradient,
        "ChatStyle": check_style,
    }
