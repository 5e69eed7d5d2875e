"""Colours and wallpapers of chats."""

from holdfast.backup.schema.backup_pb2 import ChatStyle
from holdfast_demo.sample.attachments import all_tiers, fill_pointer
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["custom_colours", "fill_style"]

# Custom colours: (id, angle, 0xAARRGGBB...); one colour is solid, two are a gradient.
CUSTOM_COLOURS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (0xFF2E7D6B,)),
    (2, 135, (0xFFB5446E, 0xFF3A4FA3)),
    (3, 90, (0xFFE0A030, 0xFFC04A2B)),
)

WALLPAPERS = ChatStyle.WallpaperPreset.values()[1:]
BUBBLES = ChatStyle.BubbleColorPreset.values()[1:]


def custom_colours() -> list[ChatStyle.CustomChatColor]:
    """Return the custom colours of the account."""
    colours = []
    for number, angle, shades in CUSTOM_COLOURS:
        colour = ChatStyle.CustomChatColor(id=number)
        if len(shades) == 1:
            colour.solid = shades[0]
        else:
            colour.gradient.angle = angle
            colour.gradient.colors.extend(shades)
            colour.gradient.positions.extend((0.0, 1.0))
        colours.append(colour)
    return colours


def fill_style(style: ChatStyle, number: int, library: Library, rng: SeededRandom, now: int) -> None:
    """Fill in a style; the numbers up to 43 use every preset."""
    if number % 8 == 3:
        pointer = style.wallpaperPhoto
        fill_pointer(pointer, rng.pick(library["photo"]), rng, now, all_tiers)
        for name in ("fileName", "width", "height"):
            pointer.ClearField(name)
    elif number % 8 != 5:
        style.wallpaperPreset = WALLPAPERS[number % len(WALLPAPERS)]
    if number % 5 == 1:
        style.autoBubbleColor.SetInParent()
    elif number % 5 == 2:
        style.customColorId = CUSTOM_COLOURS[number // 5 % len(CUSTOM_COLOURS)][0]
    else:
        style.bubbleColorPreset = BUBBLES[number % len(BUBBLES)]
    style.dimWallpaperInDarkMode = number % 2 == 0
