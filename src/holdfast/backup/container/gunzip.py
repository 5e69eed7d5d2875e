"""Streaming compression and decompression of a gzip member.

Uses `zlib-ng` if it is installed, else `zlib`; they are compatible.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Final, Self

from holdfast.backup.container.chunks import CHUNK, Sink, as_file
from holdfast.backup.container.faults import OnFault, report_fault
from holdfast.backup.errors import DamagedContainer, OversizedBackup
from holdfast.backup.parts import Part
from holdfast.backup.public import public

try:
    from zlib_ng import zlib_ng as deflate

    ENGINE = "zlib-ng"
except ImportError:
    import zlib as deflate  # type: ignore[no-redef]  # the standard library's has the same functions

    ENGINE = "zlib"

__all__ = ["ENGINE", "GunzipLimits", "GzipWriter", "gunzip"]

DeflateError: Final[type[Exception]] = deflate.error  # type: ignore[assignment]  # a class, stubbed as an instance
GZIP: Final = 31  # window of 32 KiB, gzip header and trailer
FEED: Final = 1 << 18
# The size of the pieces in which damaged data are decompressed, to find the first damaged byte.
PIECE: Final = 1 << 12
STREAM: Final = "compressed stream"
# The messages of zlib for a checksum that does not match.
CHECKSUMS: Final = frozenset({"incorrect data check", "incorrect length check"})


@public
@dataclass(frozen=True, slots=True)
class GunzipLimits:
    """Limits on decompression: at most `output` bytes, and `ratio` times the compressed size.

    The ratio is checked from `ratio_after` bytes on.
    """

    # Memory is constant in any case; the limits save time and disk space. The format ends at 4 GiB compressed, and
    # no backup of that size decompresses to 16 times as much.
    output: int = 64 << 30
    # The ratio of a decompression bomb is about 1000. Frames have timestamps and ids, so a backup of identical
    # messages has a ratio of 8 for short messages and 110 for a kilobyte each. Only thousands of the longest
    # messages, each a single letter repeated, come near a bomb, and may be real: the first gigabyte is exempt.
    ratio: int = 250
    ratio_after: int = 1 << 30

    def hold(self, opened: int, read: int) -> None:
        """Raise an error if `opened` bytes out of `read` exceed the limits."""
        if opened > self.output:
            raise OversizedBackup(f"the backup opens to more than the {self.output} bytes allowed")
        if opened > self.ratio_after and opened > self.ratio * read:
            raise OversizedBackup(
                f"the backup opens to {opened // read} times its size, more than the {self.ratio} times allowed: "
                "it was made to exhaust whoever opens it, or only repeats itself; raise the limit if you trust it"
            )


def gunzip(source: BinaryIO, *, limits: GunzipLimits | None = None, on_fault: OnFault | None = None) -> BinaryIO:
    """Return the content of the gzip member in `source` as a file that is decompressed while it is read.

    Bytes after the member are read to the end and ignored, before the last of the content is returned: a source
    that is verified at its end, such as a decrypted container, has then been verified. With `on_fault`, damage is
    reported to it, and the content ends there.
    """
    return as_file(_inflated(source, limits or GunzipLimits(), on_fault))


def _inflated(source: BinaryIO, limits: GunzipLimits, on_fault: OnFault | None) -> Iterator[bytes]:
    inflater = deflate.decompressobj(wbits=GZIP)
    fed = opened = 0
    ended = False
    while not ended:
        data = inflater.unconsumed_tail
        begin = fed - len(data)
        if not data:
            data = source.read(FEED)
            fed += len(data)
        before = inflater.copy() if on_fault is not None else None  # type: ignore[attr-defined]  # not in the stubs
        try:
            content = inflater.decompress(data, CHUNK)
        except DeflateError as fault:
            reason = str(fault).rpartition(": ")[2]
            problem = f"the compressed data is damaged at or after this byte: {reason}"
            part = Part.CHECKSUM if reason in CHECKSUMS else Part.COMPRESSION
            if before is None:
                raise DamagedContainer(problem, part=part, offset=begin, stream=STREAM) from None
            good = yield from _up_to_damage(before, data)
            report_fault(DamagedContainer(problem, part=part, offset=begin + good, stream=STREAM), on_fault)
            return
        ended = inflater.eof
        # At the end of the input, further calls return what is left in the decompressor.
        if not data and not content and not ended:
            problem = "the compressed data ends too early"
            report_fault(DamagedContainer(problem, part=Part.COMPRESSION, offset=fed, stream=STREAM), on_fault)
            return
        opened += len(content)
        limits.hold(opened, fed - len(inflater.unconsumed_tail))
        if ended:
            _drain(source)
        yield content


def _up_to_damage(inflater: "deflate._Decompress", data: bytes) -> Generator[bytes, None, int]:
    """Yield what can be decompressed before the damage: fed in small pieces, the last one byte by byte.

    Return the number of undamaged bytes.
    """
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        before = inflater.copy()  # type: ignore[attr-defined]  # not in the stubs
        try:
            yield inflater.decompress(piece)
        except DeflateError:
            for at in range(len(piece)):
                try:
                    yield before.decompress(piece[at : at + 1])
                except DeflateError:
                    return start + at
    return len(data)


def _drain(source: BinaryIO) -> None:
    while source.read(CHUNK):
        pass


class GzipWriter:
    """A writer that compresses into one gzip member, completed by `finish` or at the end of the `with` block."""

    def __init__(self, target: Sink, *, level: int = 6) -> None:
        self._target = target
        self._deflater = deflate.compressobj(level=level, wbits=GZIP)

    def write(self, data: bytes, /) -> int:
        """Compress the next bytes."""
        self._target.write(self._deflater.compress(data))
        return len(data)

    def finish(self) -> None:
        """Write the remaining data and the checksum; the target stays open."""
        self._target.write(self._deflater.flush())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
