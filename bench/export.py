"""Writing an archive as pages, and writing it again when nothing or little has changed."""

import subprocess
import sys
from pathlib import Path

from bench.archive import imported, imported_into
from bench.harness import Figure
from bench.streams import folder, one_chat_stream, with_news
from holdfast.backup.export import FORMS

FEW, MANY = 50_000, 200_000
NEWS = 100

# A process of its own: its peak of memory is not that of the benchmarks before it.
EXPORT = """
import resource, sys, time
from pathlib import Path
from holdfast.backup import archive
from holdfast.backup.export import export
with archive.open(sys.argv[1]) as opened:
    started = time.process_time()
    done = export(opened, Path(sys.argv[2]), sys.argv[3], media=False)
    print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, done.written)
"""


def exported(archive: Path, name: str, form: str = "html") -> tuple[Path, float, float, int]:
    """Export an archive; return the folder, the seconds of one core, the most memory in MB, and files written."""
    place = folder() / name
    words = [sys.executable, "-c", EXPORT, str(archive), str(place), form]
    seconds, memory, written = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    return place, float(seconds), int(memory) / 1024, int(written)


def unchanged(archive: Path) -> float:
    """Export an archive twice in each of the other forms; return the worst second time against the first."""
    forms = [form for form in FORMS if form not in {"html", "parquet"}]
    first = {form: exported(archive, form, form)[1] for form in forms}
    return max(exported(archive, form, form)[1] / first[form] for form in forms)


def figures() -> list[Figure]:
    """Measure."""
    few = imported(FEW)[0]
    many = imported(MANY)[0]
    _place, few_seconds, few_memory, _written = exported(few, "few")
    place, seconds, memory, written = exported(many, "many")
    _place, again, _memory, rewritten = exported(many, "many")
    imported_into(many, with_news(MANY, NEWS))
    _place, news, _memory, renewed = exported(many, "many")
    one = folder() / "one.db"
    imported_into(one, one_chat_stream(MANY))
    room, one_seconds, _memory, _written = exported(one, "one")
    pages = [path.stat().st_size for path in place.glob("chats/*/[0-9]*.html")]
    loaded = [path.stat().st_size for path in room.rglob("*") if path.suffix in {".html", ".js"}]
    return [
        Figure("HTML export, messages a second of one core", MANY / seconds, "messages/s", least=30_000),
        Figure("a message among 200,000 against one of 50,000", seconds / few_seconds / 4, "times", most=1.25),
        Figure("all of them in one chat against many chats", one_seconds / seconds, "times", most=1.25),
        Figure("memory for 200,000 against 50,000", memory / few_memory, "times", most=1.5),
        Figure("most memory while exporting", memory, "MB"),
        Figure("largest page", max(pages) / 1000, "kB", most=400),
        Figure("largest page or script of one chat", max(loaded) / 1000, "kB", most=400),
        Figure("files", written, "files"),
        Figure("files written again when nothing changed", rewritten, "files", most=0),
        Figure("time for that against the first export", again / seconds, "times", most=0.25),
        Figure("the same in other forms, at worst", unchanged(few), "times", most=0.25),
        Figure("time after 100 new messages", news / seconds, "times", most=0.6),
        Figure("files written after 100 new messages", renewed, "files"),
    ]
