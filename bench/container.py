"""Opening an encrypted, gzipped backup, end to end, against the slowest of its parts alone."""

import hmac
import io
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from bench.harness import Figure, medians
from bench.streams import folder, sample_stream
from holdfast import backup
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.gunzip import gunzip
from holdfast.backup.wire import FrameStream
from holdfast.backup.writer import write_container

KEYS = backup.read_keys(f"hmac-key = {'ab' * 32}\naes-key = {'cd' * 32}")


def sealed(plain: Path) -> Path:
    """Encrypt the stream."""
    path = folder() / "sealed"
    with backup.open(plain) as source, write_container(path, source.header, KEYS, unchecked=True) as target:
        for block in source.blocks():
            target.write_block(block)
    return path


def figures() -> list[Figure]:
    """Measure."""
    plain = sample_stream()
    data = plain.read_bytes()
    path = sealed(plain)
    body = path.read_bytes()[16:-32]
    cipher = Cipher(algorithms.AES256(b"\xcd" * 32), modes.CBC(path.read_bytes()[:16]))
    packed = cipher.decryptor().update(body)

    def decrypt() -> None:
        decryptor = cipher.decryptor()
        for at in range(0, len(body), CHUNK):
            decryptor.update(body[at : at + CHUNK])

    def authenticate() -> None:
        check = hmac.new(b"\xab" * 32, digestmod="sha256")
        for at in range(0, len(body), CHUNK):
            check.update(body[at : at + CHUNK])

    def inflate() -> None:
        source = gunzip(io.BytesIO(packed))
        while source.read(CHUNK):
            pass

    def split() -> None:
        for _block in FrameStream(io.BytesIO(data)).blocks():
            pass

    def whole() -> None:
        with backup.open(path, KEYS) as source:
            for _block in source.blocks():
                pass

    parts = {"cipher": decrypt, "MAC": authenticate, "gunzip": inflate, "split": split}
    taken = medians({**parts, "whole": whole})
    slowest = max(parts, key=lambda part: taken[part])
    megabytes = len(data) / 1e6
    return [
        *(Figure(f"{part} alone, of the plain stream", megabytes / taken[part], "MB/s") for part in parts),
        Figure("opened end to end, of the plain stream", megabytes / taken["whole"], "MB/s"),
        Figure(f"end to end, against {slowest} alone", 100 * taken[slowest] / taken["whole"], "%", least=60),
    ]
