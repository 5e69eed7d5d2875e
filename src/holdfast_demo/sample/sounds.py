"""WAV files with short melodies, for voice messages."""

import struct

__all__ = ["wav"]

RATE = 8000
# Half a period in samples: integers, because sines may be rounded differently on other machines.
HALF_PERIODS = (15, 14, 12, 11, 10, 9, 8)


def wav(notes: list[int], samples_per_note: int) -> bytes:
    """Return notes (0 to 6) as triangle waves: eight bits, mono."""
    sound = b"".join(tone(HALF_PERIODS[note % len(HALF_PERIODS)], samples_per_note) for note in notes)
    body = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, RATE, 1, 8)
    body += b"data" + struct.pack("<I", len(sound)) + sound + b"\0" * (len(sound) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def tone(half: int, samples: int) -> bytes:
    """Return the samples of a note."""
    period = bytes(
        [80 + 96 * step // half for step in range(half)] + [176 - 96 * step // half for step in range(half)]
    )
    return (period * (samples // len(period) + 1))[:samples]
