"""Random commit histories, written with `git fast-import`."""

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tests.hosting.git.oracle import git, new_repository, quoted

NAMES = [b"a", b"b", b"dir/a", b"dir/b", b"dir/deep/c", b"caf\xc3\xa9", b"not\xffutf8", b"sp ace", b"new\nline"]
START = 1_600_000_000


@dataclass(frozen=True)
class Step:
    """A commit to write: its parents by number, its time in seconds after the start, and its file changes."""

    parents: tuple[int, ...]
    when: int
    files: dict[bytes, bytes | None]


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Draw a history with roots, branches, merges of two and more parents, and wrong clocks."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 9))):
        choices = st.lists(st.integers(0, number - 1), max_size=3, unique=True) if number else st.just([])
        # Most commits have the previous commit as their parent.
        parents = draw(st.one_of(st.just([number - 1]), choices)) if number else []
        when = draw(st.one_of(st.just(number * 10), st.integers(0, 100)))
        contents = st.one_of(st.none(), st.binary(max_size=8), st.sampled_from([b"1\n2\n3\n", b"1\n3\n"]))
        changed = draw(st.dictionaries(st.sampled_from(NAMES), contents, max_size=3))
        steps.append(Step(tuple(parents), when, changed))
    return steps


def write(folder: Path, steps: list[Step]) -> list[str]:
    """Write a history into a new repository, main being its last commit; return the ids in order."""
    new_repository(folder)
    stream = []
    for number, step in enumerate(steps):
        who = b"Ada <ada@example.org> %d +0200" % (START + step.when)
        # Each starts from an empty tree, and names its parents.
        stream.append(b"reset refs/heads/n%d\ncommit refs/heads/n%d\nmark :%d\n" % (number, number, number + 1))
        stream.append(b"author %s\ncommitter %s\ndata 2\n%02d\n" % (who, who, number))
        for position, parent in enumerate(step.parents):
            stream.append(b"%s :%d\n" % (b"merge" if position else b"from", parent + 1))
        for path, content in step.files.items():
            if content is None:
                stream.append(b"D %s\n" % quoted(path))
            else:
                stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (quoted(path), len(content), content))
        stream.append(b"\n")
    stream.append(b"reset refs/heads/main\nfrom :%d\n" % len(steps))
    git(folder, "fast-import", "--quiet", input=b"".join(stream))
    return [git(folder, "rev-parse", f"n{number}").decode().strip() for number in range(len(steps))]
