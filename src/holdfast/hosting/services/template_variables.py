"""Expansion of variables in the files of a template repository, configured by its `.gitea/template` file.

The file has one glob per line. In files whose path matches one, and in these paths, `$VAR` and `${VAR}` are
replaced; `$$` escapes a dollar sign before a name. The file itself is left out of the new repository.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Final

import msgspec

from holdfast.hosting.errors import GitDamaged, PatternRefused
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.packs import PackedObject
from holdfast.hosting.git.paths import clean, may_hold_file
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.tree_writer import Draft, Nowhere
from holdfast.hosting.git.trees import DIRECTORY, SUBMODULE, SYMLINK, walk
from holdfast.hosting.store.globs import Glob, compile_glob

__all__ = ["RepositoryAddresses", "expand_text", "expand_tree", "variables"]

TEMPLATE_FILE: Final = ".gitea/template"
# Maximum tree entries examined, maximum patterns, and maximum bytes of text expanded.
MOST_ENTRIES: Final = 10_000
MOST_PATTERNS: Final = 100
LARGEST_FILE: Final = 2**20
MOST_BYTES: Final = 4 * 2**20
VARIABLE: Final = re.compile(rb"\$(?:(\$)|\{([A-Z_]+)\}|([A-Z_]+))")
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")
# Characters that file systems do not allow in a name.
UNSAFE: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class RepositoryAddresses(msgspec.Struct, frozen=True):
    """The URLs of a repository."""

    link: str
    https: str
    ssh: str


def snake(text: str) -> str:
    """Return a name in snake case."""
    return "_".join(WORD.findall(text)).lower()


def pascal(text: str) -> str:
    """Return a name in Pascal case."""
    return "".join(word[:1].upper() + word[1:].lower() for word in WORD.findall(text))


TRANSFORMERS: Final[Mapping[str, Callable[[str], str]]] = {
    "SNAKE": snake,
    "KEBAB": lambda text: snake(text).replace("_", "-"),
    "CAMEL": lambda text: pascal(text)[:1].lower() + pascal(text)[1:],
    "PASCAL": pascal,
    "LOWER": str.lower,
    "UPPER": str.upper,
    "TITLE": str.title,
}


def variables(
    side: str, *, name: str, owner: str, description: str, addresses: RepositoryAddresses
) -> dict[str, str]:
    """Return the variables of one side, `REPO` or `TEMPLATE`, with names also in other letter cases."""
    values = {
        f"{side}_DESCRIPTION": description,
        f"{side}_LINK": addresses.link,
        f"{side}_HTTPS_URL": addresses.https,
        f"{side}_SSH_URL": addresses.ssh,
    }
    for key, value in ((f"{side}_NAME", name), (f"{side}_OWNER", owner)):
        values[key] = value
        values |= {f"{key}_{suffix}": change(value) for suffix, change in TRANSFORMERS.items()}
    return values


def expand_text(text: bytes, values: Mapping[str, str]) -> bytes:
    """Expand the variables in a text; unknown names are left unchanged."""

    def replaced(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return b"$"
        value = values.get((match[2] or match[3]).decode())
        return match[0] if value is None else value.encode()

    return VARIABLE.sub(replaced, text)


def expand_path(path: str, values: Mapping[str, str]) -> str:
    """Expand the variables in a path, with characters unsafe in file names replaced; unchanged if invalid."""
    safe = {name: UNSAFE.sub("_", value).strip(" .") or "_" for name, value in values.items()}
    expanded = clean(expand_text(path.encode(), safe).decode())
    return expanded if may_hold_file(expanded) else path


def patterns_in(text: bytes) -> list[Glob]:
    """Parse the globs of a template file; invalid globs are skipped."""
    globs: list[Glob] = []
    for line in display_name(text).splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        try:
            globs.append(compile_glob(pattern.removeprefix("/"), "/"))
        except PatternRefused:
            continue
        if len(globs) == MOST_PATTERNS:
            break
    return globs


def expand_tree(repo: Repo, tree: str, values: Mapping[str, str]) -> tuple[str, list[PackedObject]]:
    """Return the tree with the variables expanded, and its new objects."""
    draft = Draft(repo)
    root = draft.folder(tree)
    spot = draft.find(root, TEMPLATE_FILE)
    if isinstance(spot, Nowhere) or spot.mode in {DIRECTORY, SUBMODULE, SYMLINK}:
        return tree, []
    size = repo.header(spot.id)
    globs = patterns_in(repo.read(spot.id, "blob")) if size is not None and size[1] <= LARGEST_FILE else []
    root = draft.remove(root, TEMPLATE_FILE)
    left = MOST_BYTES
    for mode, path, at in islice(walk(repo, tree), MOST_ENTRIES):
        name = display_name(path)
        if mode in {DIRECTORY, SUBMODULE, SYMLINK} or name == TEMPLATE_FILE or name.encode() != path:
            continue
        if not any(glob.matches(name) for glob in globs):
            continue
        header = repo.header(at)
        new = at
        if header is not None and header[1] <= min(LARGEST_FILE, left):
            content = repo.read(at, "blob")
            left -= len(content)
            expanded = expand_text(content, values)
            new = at if expanded == content else draft.blob(expanded)
        if new != at:
            root = draft.put(root, name, mode, new)
        target = expand_path(name, values)
        # An existing file is not overwritten.
        if target != name and isinstance(draft.find(root, target), Nowhere):
            with suppress(GitDamaged):
                root = draft.put(draft.remove(root, name), target, mode, new)
    return draft.tree(root), draft.objects()
