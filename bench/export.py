"""Writing an archive as pages, and writing it again when nothing or little has changed."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.archive import imported, imported_into
from bench.harness import Figure
from bench.streams import folder, one_chat_stream, with_news
from holdfast.backup.exports import FORMS

FEW, MANY = 50_000, 200_000
NEWS = 100

# A process of its own: its peak of memory is not that of the benchmarks before it.
EXPORT = """
import resource, sys, time
from pathlib import Path
from holdfast.backup import archives
from holdfast.backup.exports import export
with archives.open(sys.argv[1]) as opened:
    started, begun = time.perf_counter(), time.process_time()
    done = export(opened, Path(sys.argv[2]), sys.argv[3], media=False)
    took, others = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worked = time.process_time() - begun + others.ru_utime + others.ru_stime
    print(took, worked, own, others.ru_maxrss, done.written)
"""


@dataclass(frozen=True, slots=True)
class Done:
    """An export: the folder, how long it took and how long all processors worked, and what the process needed.

    `memory` is the most of the process that exports, `helper` of the largest that draws pages for it, in MB.
    """

    place: Path
    took: float
    worked: float
    memory: float
    helper: float
    written: int


def exported(archive: Path, name: str, form: str = "html") -> Done:
    """Export an archive."""
    place = folder() / name
    words = [sys.executable, "-c", EXPORT, str(archive), str(place), form]
    told = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    took, worked, memory, helper, written = map(float, told)
    return Done(place, took, worked, memory / 1024, helper / 1024, int(written))


def unchanged(archive: Path) -> float:
    """Export an archive twice in each of the other forms; return the worst second time against the first."""
    forms = [form for form in FORMS if form not in {"html", "parquet"}]
    first = {form: exported(archive, form, form).worked for form in forms}
    return max(exported(archive, form, form).worked / first[form] for form in forms)


def figures() -> list[Figure]:
    """Measure."""
    few = imported(FEW)[0]
    many = imported(MANY)[0]
    some = exported(few, "few")
    first = exported(many, "many")
    again = exported(many, "many")
    imported_into(many, with_news(MANY, NEWS))
    news = exported(many, "many")
    single = folder() / "one.db"
    imported_into(single, one_chat_stream(MANY))
    one = exported(single, "one")
    pages = [path.stat().st_size for path in first.place.glob("chats/*/[0-9]*.html")]
    loaded = [path.stat().st_size for path in one.place.rglob("*") if path.suffix in {".html", ".js"}]
    return [
        Figure("HTML export, messages a second", MANY / first.took, "messages/s", least=30_000),
        Figure("messages a second of one core", MANY / first.worked, "messages/s"),
        Figure(
            "a message among 200,000 against one of 50,000", first.worked / some.worked / 4, "times", most=1.25
        ),
        Figure("all of them in one chat against many chats", one.worked / first.worked, "times", most=1.25),
        Figure("memory for 200,000 against 50,000", first.memory / some.memory, "times", most=1.5),
        Figure("the same of those that draw pages", first.helper / max(some.helper, 1), "times", most=1.5),
        Figure("most memory while exporting", first.memory, "MB"),
        Figure("most memory of one that draws pages", first.helper, "MB"),
        Figure("largest page", max(pages) / 1000, "kB", most=400),
        Figure("largest page or script of one chat", max(loaded) / 1000, "kB", most=400),
        Figure("files", first.written, "files"),
        Figure("files written again when nothing changed", again.written, "files", most=0),
        Figure("time for that against the first export", again.worked / first.worked, "times", most=0.25),
        Figure("the same in other forms, at worst", unchanged(few), "times", most=0.25),
        Figure("time after 100 new messages", news.worked / first.worked, "times", most=0.6),
        Figure("files written after 100 new messages", news.written, "files"),
    ]
