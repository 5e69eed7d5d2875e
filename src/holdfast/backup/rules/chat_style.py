"""Chat styles (`ChatStyle`): bubble colours, custom colours, gradients, wallpapers."""

from typing import Final

from holdfast.backup.rules.checks import known, one_of_fields, opaque, required
from holdfast.backup.rules.repairs import EMPTY, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

DROP_COLOR: Final = discard("The colour, which cannot be one, is left out.", up="customChatColors")

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
        importer="An importer takes the default colour.",
        repairs=(DROP_COLOR,),
    ),
    rule(
        "custom-color.opaque",
        "Something shows through the colour.",
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
        importer="An importer takes the automatic colour.",
        repairs=(put("The colour is the automatic one.", autoBubbleColor=EMPTY),),
    ),
    rule(
        "chat-style.preset.known",
        "The preset of a colour or wallpaper is not known.",
        "Write one that has a name, or leave it out.",
        "spec 2, contract 5.5",
        Breach.DEFAULTED,
        known("ChatStyle.wallpaperPreset", "ChatStyle.bubbleColorPreset"),
        importer="An importer takes the default.",
        repairs=(discard("The preset, which has no name, is left out."),),
    ),
    rule(
        "chat-style.color.known",
        "The style names a colour that has not appeared.",
        "Write the colour into the account, before what names it.",
        "spec 1 rule 2, spec 2, contract 5.5",
        Breach.REFERENCE,
        fields=("ChatStyle.customColorId", "ChatStyle.CustomChatColor.id"),
        repairs=(discard("The name of a colour that is not there is left out."),),
    ),
    rule(
        "chat-style.wallpaper.plain",
        "The wallpaper carries a file name, a size or a caption.",
        "Leave them out: nobody reads them.",
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
