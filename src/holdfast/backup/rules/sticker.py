"""Stickers in messages (`StickerMessage`)."""

from typing import Final

from holdfast.backup.rules.checks import UUID_SIZE, length, required
from holdfast.backup.rules.repairs import DROP_RECORD, LOST_FILE, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "sticker.present",
        "The message is a sticker without a sticker.",
        "Write the sticker, or leave the message out.",
        "contract 5.9",
        Breach.CARE,
        required("StickerMessage.sticker"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "sticker.pack-id.length",
        "The id of the sticker's pack does not have 16 bytes.",
        "Write all of it.",
        "contract 5.9",
        Breach.FORMAT,
        length(UUID_SIZE, "Sticker.packId"),
    ),
    rule(
        "sticker.pack-key.length",
        "The key of the sticker's pack does not have 32 bytes.",
        "Write all of it.",
        "contract 5.9",
        Breach.FORMAT,
        length(32, "Sticker.packKey"),
    ),
    rule(
        "sticker.data.present",
        "The sticker does not say which file it is.",
        "Write the pointer, with an empty locator where the file is lost.",
        "contract 5.9",
        Breach.CARE,
        required("Sticker.data"),
        repairs=(put("The file of the sticker is said to be lost.", data=LOST_FILE),),
    ),
)
