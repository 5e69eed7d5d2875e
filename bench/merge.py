"""Comparing, merging and cropping backups."""

import tempfile
from pathlib import Path

from bench.harness import Figure, medians
from bench.streams import MESSAGES, sample_stream
from holdfast import backup
from holdfast.backup.compare import Window, crop, diff, merge
from holdfast.backup.conversion import OutputFormat


def figures() -> list[Figure]:
    """Measure."""
    path = sample_stream()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.binproto"

        def compare() -> None:
            with backup.open(path) as one, backup.open(path) as other:
                assert diff(one, other).same

        def unite() -> None:
            with backup.open(path) as one, backup.open(path) as other:
                merge([one, other], target, to=OutputFormat.STREAM)

        def cut() -> None:
            with backup.open(path) as source:
                crop(source, target, to=OutputFormat.STREAM, window=Window(0, None), without_media=True)

        taken = medians({"diff": compare, "merge": unite, "crop": cut}, rounds=3)
    return [
        Figure("comparing, messages of both a second", 2 * MESSAGES / taken["diff"], "messages/s"),
        Figure("merging, messages of both a second", 2 * MESSAGES / taken["merge"], "messages/s"),
        Figure("cropping, messages a second", MESSAGES / taken["crop"], "messages/s"),
    ]
