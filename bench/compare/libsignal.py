"""Validation and JSON of the same frames by libsignal's package for Node.js and by Holdfast."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.compare.tables import Comparison
from bench.streams import sample_stream
from bench.validate import validate
from holdfast import backup
from holdfast.backup.wire import to_json_lines
from holdfast.backup.wire.stream import NO_CAP

__all__ = ["compare_libraries"]

# Reads the whole file first, so that only the library is measured; prints the frames and the seconds.
SCRIPT = """
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const [folder, file, work] = process.argv.slice(1);
const library = createRequire(folder + '/x.js')('@signalapp/libsignal-client/dist/MessageBackup.js');
const bytes = readFileSync(file);
const records = [];
for (let at = 0; at < bytes.length;) {
  const start = at;
  let length = 0, factor = 1, byte;
  do { byte = bytes[at++]; length += (byte & 127) * factor; factor *= 128; } while (byte & 128);
  at += length;
  records.push([new Uint8Array(bytes.subarray(start, at)), new Uint8Array(bytes.subarray(at - length, at))]);
}
const [info, ...frames] = records;
const began = process.hrtime.bigint();
if (work === 'validate') {
  const validator = new library.OnlineBackupValidator(info[1], library.Purpose.RemoteBackup);
  for (const frame of frames) validator.addFrame(frame[1]);
  validator.finalize();
} else {
  const { exporter } = library.BackupJsonExporter.start(info[1], { validate: false });
  let size = 0;
  for (const frame of frames) for (const line of exporter.exportFrames(frame[0])) size += (line.line ?? '').length;
}
console.log(JSON.stringify([frames.length, Number(process.hrtime.bigint() - began) / 1e9]));
"""


def theirs(folder: Path, file: Path, work: str) -> tuple[int, float]:
    """Return how many frames libsignal took, and the frames a second."""
    command = ["node", "--max-old-space-size=8000", "-e", SCRIPT, str(folder), str(file), work]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    frames, seconds = json.loads(output)
    return frames, frames / seconds


def write_json(blocks: list[bytes], threads: int) -> None:
    """Write all frames as lines of JSON with Holdfast."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda data: to_json_lines(data, 0, NO_CAP), blocks))


def compare_libraries(folder: Path, rounds: int) -> Iterator[Comparison]:
    """Measure both in turn, with one thread of Holdfast and with two."""
    file = sample_stream()
    with backup.open(file) as source:
        blocks = [bytes(block.data) for block in source.blocks()]
    works: dict[str, Callable[[int], object]] = {
        "validate": lambda threads: validate(file, threads),
        "JSON": lambda threads: write_json(blocks, threads),
    }
    for work, run in works.items():
        peer: list[float] = []
        ours: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            frames, rate = theirs(folder, file, work)
            peer.append(rate)
            for threads, rates in ours.items():
                began = time.perf_counter()
                run(threads)
                rates.append(frames / (time.perf_counter() - began))
        for threads, rates in ours.items():
            yield Comparison(f"{work}, frames, {threads} thread{'s' if threads > 1 else ''} of ours", peer, rates)
