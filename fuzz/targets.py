"""What is fuzzed: for each target a function that takes any bytes, and seeds that the search starts from.

A function returns, or raises one of the errors that the caller of the code is told to expect; any other exception,
and an assertion below, is a find.
"""

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from holdfast import backup
from holdfast.backup.conversion import OutputFormat, convert
from holdfast.backup.wire.varint import encode_varint
from holdfast.hosting.errors import InvalidYaml
from holdfast.hosting.renderer.markdown import MarkdownContext, render
from holdfast.hosting.services import code_owners
from holdfast.hosting.services.issue_templates import parse_config, parse_template
from holdfast.web.issues.search_text import parse_search, write_search
from holdfast_demo.sample import sample_records

__all__ = ["TARGETS", "FuzzTarget"]

# Small limits, so that a find is a mistake and not merely a lot of work.
LIMITS: Final = backup.StreamLimits(frame_bytes=1 << 20)
GUNZIP: Final = backup.GunzipLimits(output=1 << 24, ratio=200, ratio_after=1 << 20)
KEYS: Final = backup.read_keys(f"hmac-key = {'ab' * 32}\naes-key = {'cd' * 32}")
PLACE: Final = MarkdownContext(
    "/ada/boats", "/ada/boats/src/branch/main", "/ada/boats/raw/branch/main", anchors="a-"
)
# What no text may get into a page: elements that run or load, handlers, and addresses that are scripts.
ACTIVE: Final = re.compile(
    r"<(?:script|style|iframe|object|embed|form|svg|math|meta|base|link)\b|<[^>]*\son\w+=|"
    r"<[^>]*\b(?:href|src)=\"\s*(?:javascript|vbscript|data):",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """A target of the fuzzer."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]
    longest: int
    """How many bytes an input has, at most."""


def opened(data: bytes) -> backup.Backup:
    """Open a file with keys, within the limits."""
    return backup.open(io.BytesIO(data), KEYS, limits=LIMITS, gunzip_limits=GUNZIP)


def read_backup(data: bytes) -> None:
    """Read a file every way there is; whatever is converted must be readable again."""
    with contextlib.suppress(backup.BackupError):
        with opened(data) as source:
            backup.info(source)
            text, again = io.BytesIO(), io.BytesIO()
            convert(source, text, to=OutputFormat.JSONL)
        with backup.open(io.BytesIO(text.getvalue())) as source:
            convert(source, again, to=OutputFormat.STREAM)
        with backup.open(io.BytesIO(again.getvalue())) as source:
            backup.info(source)


def validate_backup(data: bytes) -> None:
    """Validate a file, plan its repair, and copy it without its content; a copy can be read."""
    with contextlib.suppress(backup.BackupError), opened(data) as source:
        backup.validate(source, profile="import", threads=1)
    with contextlib.suppress(backup.BackupError), opened(data) as source:
        backup.plan_repair(source)
    with contextlib.suppress(backup.BackupError):
        copy = io.BytesIO()
        with opened(data) as source:
            backup.redact(source, copy, seed=1)
        with backup.open(io.BytesIO(copy.getvalue())) as source:
            backup.info(source)


def backup_seeds() -> Iterator[bytes]:
    """Yield a backup in every form a file can have, and each kind of record by itself."""
    records = list(sample_records(400))
    plain = b"".join(encode_varint(len(record)) + record for record in records[:40])
    yield plain
    for record in records[1::7]:
        yield b"".join(encode_varint(len(one)) + one for one in (records[0], record))
    for to in (OutputFormat.JSONL, OutputFormat.JSON, OutputFormat.CONTAINER):
        with backup.open(io.BytesIO(plain)) as source:
            target = io.BytesIO()
            convert(source, target, to=to, keys=KEYS)
            yield target.getvalue()


def render_markdown(data: bytes) -> None:
    """Render a text; the page has nothing that could run."""
    html = render(data.decode("utf-8", "replace"), PLACE)
    found = ACTIVE.search(html)
    assert found is None, found


def markdown_seeds() -> Iterator[bytes]:
    """Yield texts with every element of Markdown, references and HTML."""
    yield b"# A heading\n\n*a* **b** ~~c~~ `d` [e](f.md) ![g](h.png)\n\n> i\n\n1. j\n   - [x] k\n\n---\n"
    yield b"| a | b |\n|:--|--:|\n| 1 | `2|3` |\n\nA note[^1].\n\n[^1]: The note.\n"
    yield b"```python\nprint(1)\n```\n\n    code\n"
    yield b"See #12, @ada, ada/boats#3 and 0123456789abcdef0123456789abcdef01234567.\n"
    yield b"<a href='javascript:x' onclick=y>z</a> <img src=x onerror=y> <script>w</script>"
    yield b"<svg><style>v</style></svg>"
    yield b"<details><summary>a</summary>\n\n**b**\n\n</details>\n"
    yield b"<!-- c --> &lt;d&gt; &#106;avascript: https://e.example/f(g)"


def read_issue_template(data: bytes) -> None:
    """Read a file as an issue template in both syntaxes, and as the settings of the form."""
    for name in ("bug.md", "bug.yaml"):
        with contextlib.suppress(InvalidYaml):
            parse_template(f".gitea/ISSUE_TEMPLATE/{name}", data)
    with contextlib.suppress(InvalidYaml):
        parse_config(data)


def issue_template_seeds() -> Iterator[bytes]:
    """Yield a template of each syntax, and settings."""
    yield b"---\nname: Bug\nabout: It leaks\ntitle: '[b]'\nlabels: [bug, 'help wanted']\nref: main\n---\n\nWhat?\n"
    yield (
        b"name: Bug\nabout: It leaks\nbody:\n"
        b"  - type: markdown\n    attributes: {value: Thanks}\n"
        b"  - type: input\n    id: boat\n    attributes: {label: Boat}\n    validations: {required: true}\n"
        b"  - type: dropdown\n    id: where\n    attributes: {label: Where, options: [bow], multiple: true}\n"
        b"  - type: checkboxes\n    id: agree\n    attributes: {label: A, options: [{label: b, required: true}]}\n"
    )
    yield b"blank_issues_enabled: false\ncontact_links:\n  - {name: Help, url: 'https://e.example/', about: Ask}\n"


def read_patterns(data: bytes) -> None:
    """Read a CODEOWNERS file in both syntaxes, and match a path with each of its rules."""
    text = data.decode("utf-8", "replace")
    for is_github in (True, False):
        rules = code_owners.parse(text, is_github=is_github)
        code_owners.rules_for(rules, ["src/boats/hull.py", "README.md", "a" * 200], last_counts=is_github)


def pattern_seeds() -> Iterator[bytes]:
    """Yield files with every kind of pattern."""
    yield b"# owners\n* @ada\n/docs/ @grace @harbour/crew\n*.py @ada\nsrc/**/hull.* @grace\n/src/* @ada\n"
    yield b"!src/.* @ada\n.*\\.py$ @grace\n(a|b)+/[^/]{1,3}\\.md @ada\n"
    yield b"{a,b{c,d}}/**/[!x-z]?*.txt @ada\n\\*literal @grace\n"


def read_search(data: bytes) -> None:
    """Parse the text of a search; what is written from it is parsed as the same."""
    search = parse_search(data.decode("utf-8", "replace"))
    written = write_search(search)
    again = parse_search(written)
    assert write_search(again) == written, (search, again)


def search_seeds() -> Iterator[bytes]:
    """Yield searches with every qualifier."""
    yield b'is:open is:pr label:bug label:"help wanted" author:ada assignee:@me milestone:"1.0" blocked:yes a leak'
    yield b'state:all type:issue no:milestone no:assignee sort:updated "a phrase" is:blocked label:"a \\" b"'


TARGETS: Final = {
    "reader": FuzzTarget(read_backup, backup_seeds, 30_000),
    "validator": FuzzTarget(validate_backup, backup_seeds, 30_000),
    "markdown": FuzzTarget(render_markdown, markdown_seeds, 2_000),
    "issue-templates": FuzzTarget(read_issue_template, issue_template_seeds, 2_000),
    "patterns": FuzzTarget(read_patterns, pattern_seeds, 500),
    "search": FuzzTarget(read_search, search_seeds, 200),
}
