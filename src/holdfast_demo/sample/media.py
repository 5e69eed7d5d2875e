"""The files of attachments: a few dozen, generated for each seed."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from holdfast_demo.sample.long_texts import LONG_TEXTS
from holdfast_demo.sample.pdf import pdf
from holdfast_demo.sample.pictures import gif, jpeg, landscape, png, smile_png
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.sounds import wav

__all__ = ["Library", "Media", "library", "sample_media"]

MediaUse = Literal["photo", "drawing", "animation", "voice", "document", "sticker", "long_text"]

# So that the files and the history of a seed use different random numbers.
SALT = 0x6D65646961


@dataclass(frozen=True, slots=True)
class Media:
    """A decrypted file with the metadata of its file pointer."""

    content_type: str
    content: bytes
    sha256: bytes
    file_name: str | None = None
    width: int = 0
    height: int = 0
    blur_hash: str = ""


Library = MappingProxyType[MediaUse, tuple[Media, ...]]


def sample_media(seed: int = 1) -> dict[bytes, Media]:
    """Return every file that the samples of a seed can refer to, by its SHA-256.

    The key of an attachment of `sample_records` is its `plaintextHash`.
    """
    return {media.sha256: media for files in library(seed).values() for media in files}


# Records and their attachments ask for the same files one after the other.
@lru_cache(maxsize=4)
def library(seed: int) -> Library:
    """Return the files of a seed by use."""
    rng = SeededRandom(seed ^ SALT)
    return MappingProxyType(
        {
            "photo": tuple(photo(rng, number) for number in range(10)),
            "drawing": tuple(drawing(rng, number) for number in range(6)),
            "animation": tuple(animation(rng) for _ in range(3)),
            "voice": tuple(voice(rng) for _ in range(5)),
            "document": (
                document("Spring programme", "Four songs, one pause, tea.", "programme.pdf"),
                document("Packing list", "Map, boots, cake.", "Packliste für Sonntag.pdf"),
            ),
            "sticker": tuple(sticker(rng) for _ in range(8)),
            "long_text": tuple(file_of("text/plain", text.encode()) for text in LONG_TEXTS),
        }
    )


def file_of(
    content_type: str,
    content: bytes,
    file_name: str | None = None,
    size: tuple[int, int] = (0, 0),
    blur_hash: str = "",
) -> Media:
    """Return a file with its hash and metadata."""
    return Media(content_type, content, sha256(content).digest(), file_name, *size, blur_hash)


def photo(rng: SeededRandom, number: int) -> Media:
    """Return a JPEG; each pixel of the drawing is a block of 8 by 8."""
    picture = landscape(rng, 32, 24)
    size = (picture.width * 8, picture.height * 8)
    return file_of("image/jpeg", jpeg(picture), f"photo-{number:04}.jpg", size, picture.blur_hash)


def drawing(rng: SeededRandom, number: int) -> Media:
    """Return a PNG."""
    picture = landscape(rng, 96, 64)
    size = (picture.width, picture.height)
    return file_of("image/png", png(picture), f"drawing {number + 1}.png", size, picture.blur_hash)


def animation(rng: SeededRandom) -> Media:
    """Return an animated GIF in which the sun moves."""
    scene = rng.getrandbits(32)
    pictures = [landscape(SeededRandom(scene), 48, 32, sun_at=x) for x in (6, 18, 30, 42)]
    return file_of("image/gif", gif(pictures), None, (48, 32), pictures[0].blur_hash)


def voice(rng: SeededRandom) -> Media:
    """Return a WAV file with a melody."""
    return file_of("audio/wav", wav([rng.below(7) for _ in range(rng.between(4, 10))], 700))


def document(title: str, line: str, file_name: str) -> Media:
    """Return a PDF of one page."""
    return file_of("application/pdf", pdf([title, line]), file_name)


def sticker(rng: SeededRandom) -> Media:
    """Return a sticker."""
    colour = (rng.between(80, 255), rng.between(80, 255), rng.between(80, 255))
    return file_of("image/png", smile_png(colour, 20), None, (41, 41))
