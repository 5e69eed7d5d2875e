"""Thumbnails of photos: size, orientation, metadata, formats and limits."""

import io
import random
import threading
from collections.abc import Callable

import pytest
from PIL import Image

from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.web.chats import thumbnails
from holdfast.web.chats.thumbnails import LONGEST_SIDE, make_thumbnail, may_have_thumbnail, thumbnail

ROTATED = 6
ORIENTATION = 0x0112


def photo(size: tuple[int, int], kind: str = "JPEG", mode: str = "RGB", **options: object) -> bytes:
    """Draw a picture of noise, which no format makes small."""
    rng = random.Random(1)
    bands = len(Image.new(mode, (1, 1)).getbands())
    small = Image.frombytes(mode, (500, 500), rng.randbytes(500 * 500 * bands))
    out = io.BytesIO()
    small.resize(size, Image.Resampling.NEAREST).save(out, kind, **options)
    return out.getvalue()


def open_image(data: bytes | None) -> Image.Image:
    """Open a thumbnail, which must be WebP."""
    assert data is not None
    created = Image.open(io.BytesIO(data))
    assert created.format == "WEBP"
    return created


@pytest.mark.parametrize(("size", "small"), [((4000, 3000), (840, 630)), ((1000, 3000), (280, 840))])
def test_a_photo_is_scaled_and_keeps_its_proportions(size: tuple[int, int], small: tuple[int, int]) -> None:
    """The longer side of a thumbnail has 840 pixels."""
    content = photo(size)
    created = make_thumbnail(content)
    assert open_image(created).size == small
    assert created is not None
    assert len(created) < len(content)


def test_a_photo_is_turned_and_loses_its_metadata() -> None:
    """The EXIF orientation is applied to the pixels, and the thumbnail has no EXIF data."""
    exif = Image.Exif()
    exif[ORIENTATION] = ROTATED
    exif[0x010F] = "a camera"
    image = open_image(make_thumbnail(photo((3000, 2000), exif=exif)))
    assert image.size == (560, 840)
    assert not image.getexif()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "CMYK"])
def test_every_pixel_format_is_decoded(mode: str) -> None:
    """Every mode of Pillow has a thumbnail, and those with transparency keep it."""
    kind = "JPEG" if mode == "CMYK" else "PNG"
    image = open_image(make_thumbnail(photo((2000, 2000), kind, mode, compress_level=0)))
    assert max(image.size) == LONGEST_SIDE
    assert image.mode == ("RGBA" if mode in {"RGBA", "LA"} else "RGB")


def animation() -> bytes:
    """Draw an animated picture."""
    out = io.BytesIO()
    frames = [Image.new("RGB", (900, 900), color) for color in ("red", "blue")]
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:])
    return out.getvalue()


def bomb() -> bytes:
    """Write a small file of very many pixels."""
    out = io.BytesIO()
    Image.new("1", (9000, 9000)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [animation(), bomb(), b"", b"GIF89a" + b"x" * 100, photo((2000, 2000))[:5000], b"<svg/>"],
    ids=["moves", "bomb", "nothing", "another format", "cut off", "vector"],
)
def test_unsupported_and_oversized_images_have_no_thumbnail(content: bytes) -> None:
    """Animations, images of too many pixels, other formats and damaged files have none."""
    assert make_thumbnail(content) is None


def test_a_copy_that_would_be_larger_is_not_made() -> None:
    """A picture that is already compressed well has no thumbnail."""
    out = io.BytesIO()
    Image.new("RGB", (800, 800), "white").save(out, "WEBP", quality=1)
    assert make_thumbnail(out.getvalue()) is None


def counting_reader(content: bytes, calls: list[int]) -> Callable[[], bytes]:
    """Return a function that reads a file and counts."""

    def read() -> bytes:
        calls.append(1)
        return content

    return read


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with an empty cache."""
    monkeypatch.setattr(thumbnails, "kept", KeptBytes(thumbnails.KEPT_BYTES, thumbnails.LARGEST_KEPT))


def test_a_photo_is_read_by_few_requests_at_once_and_by_none_later() -> None:
    """The result is cached, also if no thumbnail can be made; only requests that decode at once read the photo."""
    content = photo((2000, 2000))
    for name, data in (("a", content), ("b", content[:5000])):
        calls: list[int] = []
        asking = [threading.Thread(target=thumbnail, args=(name, counting_reader(data, calls))) for _ in range(6)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        thumbnail(name, counting_reader(data, calls))
        assert len(calls) <= thumbnails.AT_ONCE
    assert thumbnail("b", lambda: b"") is None
    assert thumbnail("a", lambda: b"") is not None


@pytest.mark.parametrize(
    ("content_type", "size", "expected"),
    [
        ("image/jpeg", 200_000, True),
        ("IMAGE/PNG; x=y", 200_000, True),
        ("image/jpeg", thumbnails.SMALLEST_BYTES - 1, False),
        ("image/jpeg", thumbnails.LARGEST_BYTES + 1, False),
        ("image/gif", 200_000, False),
        ("video/mp4", 200_000, False),
        (None, 200_000, False),
    ],
)
def test_thumbnails_are_made_of_large_photos_only(content_type: str | None, size: int, *, expected: bool) -> None:
    """Small files are fast enough, and huge ones would take too much memory."""
    assert may_have_thumbnail(content_type, size) is expected
