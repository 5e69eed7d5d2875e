"""Checks of `.gitmodules` and `.gitattributes`, compared with `git fsck`, and the cost of matching patterns."""

import subprocess
from pathlib import Path

import pytest

from holdfast.hosting.git import special_files
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.special_files import MAX_MATCHING_COST, matching_cost
from holdfast.hosting.git.tree_writer import Draft

MODULES = b'[submodule "%s"]\n\tpath = %s\n\turl = %s\n\tupdate = %s\n'


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".gitmodules", MODULES % (b"x", b"x", b"https://example.org/x", b"merge")),
        (".gitmodules", MODULES % (b"../x", b"x", b"https://example.org/x", b"merge")),
        (".gitmodules", MODULES % (b"x", b"-x", b"https://example.org/x", b"merge")),
        (".gitmodules", MODULES % (b"x", b"x", b"-x", b"merge")),
        (".gitmodules", MODULES % (b"x", b"x", b"https://example.org/%0ahost=y", b"merge")),
        (".gitmodules", MODULES % (b"x", b"x", b"https://example.org/x", b"!rm")),
        (".gitattributes", b"x " * 1000 + b"\n*.bin binary\n"),
        (".gitattributes", b"x" * 2048),
        (".gitattributes", b"x" * 2047),
    ],
)
def test_checks_agree_with_git_fsck(folder: Path, path: str, content: bytes) -> None:
    """A special file has a problem exactly if `git fsck` reports one."""
    repo = open_repository(folder)
    draft = Draft(repo)
    draft.tree(draft.put(draft.empty(), path, 0o100644, repo.write("blob", content)))
    draft.add_to_copy()
    checked = subprocess.run(["git", "-C", str(folder), "fsck"], check=False, capture_output=True)
    assert (special_files.problem_with(path, content) is None) == (checked.returncode == 0), checked.stderr


def test_other_files_are_not_checked() -> None:
    """Only names that git reads are special, in all spellings; a `.gitmodules` that is too large is refused."""
    assert special_files.is_special("a/.GITMODULES")
    assert special_files.is_special(".gitattributes ")
    assert special_files.is_special("gitmod~1")
    assert not special_files.is_special("gitmodules")
    assert special_files.problem_with(".gitmodules", b"x" * (special_files.LARGEST + 1)) is not None


PATH = b"assets/textures/characters/ships/a-rather-long-name-of-a-file.psd"
HOSTILE = b"*a*a*a**/*a*a*a**/*a*a*a**/b filter=lfs\n"


@pytest.mark.parametrize("pattern", [b"*.psd", b"assets/**/*.psd", b"**/textures/**/*.psd", b"a*b*c*d.psd", b"x"])
def test_common_patterns_are_cheap(pattern: bytes) -> None:
    """Hundreds of common patterns and very deep paths stay below the limit of the matching cost."""
    assert matching_cost((pattern + b" filter=lfs diff=lfs merge=lfs -text\n") * 300, PATH) < MAX_MATCHING_COST
    assert matching_cost(pattern + b" filter=lfs\n", PATH * 5) < MAX_MATCHING_COST


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (HOSTILE, b"/".join([b"a" * 20] * 20)),
        (b"/**/**/a/**/aa/b filter=lfs\n", b"a/" * 1900 + b"c"),
        (b"*a**/b filter=lfs\n" * 50_000, b"a/" * 200 + b"c"),
        (b"*a" * 900 + b" filter=lfs\n", b"a" * 200),
    ],
)
def test_expensive_patterns_are_recognized(content: bytes, path: bytes) -> None:
    """The cost of matching hostile patterns is above the limit, computed without matching them."""
    assert matching_cost(content, path) > MAX_MATCHING_COST


def test_a_file_without_wildcards_costs_nothing_to_match() -> None:
    """Attributes without wildcards have a matching cost of 0 however many lines they have."""
    assert matching_cost(b"a.psd filter=lfs\n" * 10_000, PATH) == 0
