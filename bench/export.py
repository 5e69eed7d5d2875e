"""Writing an archive as pages, and writing it again when nothing or little has changed."""

import subprocess
import sys
from pathlib import Path

from bench.archive import imported
from bench.harness import Figure
from bench.streams import folder

FEW, MANY = 50_000, 200_000

# A process of its own: its peak of memory is not that of the benchmarks before it.
EXPORT = """
import resource, sys, time
from pathlib import Path
from holdfast.backup import archive
from holdfast.backup.export.choice import Choice
from holdfast.backup.export.html import write_html
with archive.open(sys.argv[1]) as opened:
    started = time.process_time()
    done = write_html(opened, Path(sys.argv[2]), Choice(), media=False, search=True)
    print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, done.written)
"""


def exported(archive: Path, name: str) -> tuple[Path, float, float, int]:
    """Export an archive; return the folder, the seconds of one core, the most memory in MB, and files written."""
    place = folder() / name
    words = [sys.executable, "-c", EXPORT, str(archive), str(place)]
    seconds, memory, written = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    return place, float(seconds), int(memory) / 1024, int(written)


def figures() -> list[Figure]:
    """Measure."""
    few = imported(FEW)[0]
    many = imported(MANY)[0]
    _place, few_seconds, few_memory, _written = exported(few, "few")
    place, seconds, memory, written = exported(many, "many")
    _place, again, _memory, rewritten = exported(many, "many")
    pages = [path.stat().st_size for path in place.glob("chats/*/[0-9]*.html")]
    return [
        Figure("HTML export, messages a second of one core", MANY / seconds, "messages/s", least=30_000),
        Figure("a message among 200,000 against one of 50,000", seconds / few_seconds / 4, "times", most=1.25),
        Figure("memory for 200,000 against 50,000", memory / few_memory, "times", most=1.5),
        Figure("most memory while exporting", memory, "MB"),
        Figure("largest page", max(pages) / 1000, "kB", most=400),
        Figure("files", written, "files"),
        Figure("files written again when nothing changed", rewritten, "files", most=0),
        Figure("time for that against the first export", again / seconds, "times"),
    ]
