"""Installed sticker packs (`StickerPack`)."""

from typing import Final

from holdfast.backup.rules.checks import UUID_SIZE, length
from holdfast.backup.rules.repairs import DROP_RECORD
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "sticker-pack.id.length",
        "The id of the sticker pack does not have 16 bytes.",
        "Write all of it.",
        "contract 5.12",
        Breach.FORMAT,
        length(UUID_SIZE, "StickerPack.packId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "sticker-pack.key.length",
        "The key of the sticker pack does not have 32 bytes.",
        "Write all of it.",
        "contract 5.12",
        Breach.FORMAT,
        length(32, "StickerPack.packKey"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "sticker-pack.id.unique",
        "Another sticker pack has the same id.",
        "Write each pack once.",
        "contract 5.3, contract 5.12",
        Breach.CARE,
        fields=("StickerPack.packId",),
        repairs=(DROP_RECORD,),
    ),
)
