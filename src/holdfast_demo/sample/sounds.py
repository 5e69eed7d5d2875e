"""Short melodies as WAV files, for voice messages."""

import struct

__all__ = ["wav"]

RATE = 8000
# Half a period in samples: whole numbers only, so that no machine rounds a sine differently.
HALF_PERIODS = (15, 14, 12, 11, 10, 9, 8)


def wav(notes: list[int], samples_per_note: int) -> bytes:
    """Play notes (0 to 6) one after the other as a triangle wave of eight bits, mono."""
    sound = b"".join(tone(HALF_PERIODS[note % len(HALF_PERIODS)], samples_per_note) for note in notes)
    body = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, RATE, 1, 8)
    body += b"data" + struct.pack("<I", len(sound)) + sound + b"\0" * (len(sound) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def tone(half: int, samples: int) -> bytes:
    """Play one note."""
    period = bytes(
        [80 + 96 * step // half for step in range(half)] + [176 - 96 * step // half for step in range(half)]
    )
    return (period * (samples // len(period) + 1))[:samples]
