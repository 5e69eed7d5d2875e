"""Variables in the files of a template repository."""

from pathlib import Path

import pytest

from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.trees import DIRECTORY, walk
from holdfast.hosting.services import template_variables
from holdfast.hosting.services.template_variables import RepositoryAddresses, expand_text, expand_tree, variables
from tests.hosting.git.oracle import commit, new_repository

ADDRESSES = RepositoryAddresses("https://example.org/ada/go-sdk", "https://example.org/ada/go-sdk.git", "git@x:y")


def known() -> dict[str, str]:
    """Return the variables of a repository."""
    return variables("REPO", name="go-sdk", owner="ada", description="A $REPO_NAME/..", addresses=ADDRESSES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an empty bare repository."""
    return new_repository(tmp_path / "7.git")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        (b"$REPO_NAME ${REPO_NAME}s", b"go-sdk go-sdks"),
        (b"$$REPO_NAME $${REPO_NAME} 5$", b"$REPO_NAME ${REPO_NAME} 5$"),
        (b"$HOME ${REPO_NAMES} $REPO_NAMES", b"$HOME ${REPO_NAMES} $REPO_NAMES"),
        (b"${REPO_DESCRIPTION}", b"A $REPO_NAME/.."),
        (b"$REPO_NAME_SNAKE $REPO_NAME_KEBAB $REPO_NAME_CAMEL $REPO_NAME_PASCAL", b"go_sdk go-sdk goSdk GoSdk"),
        (b"$REPO_NAME_LOWER $REPO_NAME_UPPER $REPO_NAME_TITLE $REPO_OWNER", b"go-sdk GO-SDK Go-Sdk ada"),
        (
            b"$REPO_LINK $REPO_HTTPS_URL $REPO_SSH_URL",
            " ".join((ADDRESSES.link, ADDRESSES.https, ADDRESSES.ssh)).encode(),
        ),
    ],
)
def test_variables_are_expanded(text: bytes, expanded: bytes) -> None:
    """Unknown names are not replaced, and a double dollar sign is an escaped one."""
    assert expand_text(text, known()) == expanded


def expanded_files(folder: Path, files: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the files of the expanded tree of a commit."""
    repo = open_repository(folder)
    commit_id = commit(folder, files)
    repo = open_repository(folder)
    tree, objects = expand_tree(repo, read_commit(repo, commit_id).tree, known())
    for entry in objects:
        repo.write(entry.kind, entry.content)
    repo = open_repository(folder)
    return {path: repo.read(at, "blob") for mode, path, at in walk(repo, tree) if mode != DIRECTORY}


def test_files_that_the_template_names_are_expanded(folder: Path) -> None:
    """Variables in contents and paths are expanded, and the list of patterns is not copied."""
    files = {
        b".gitea/template": b"# comment\n\n**.md\n/src/$REPO_NAME/*.go\nd/*.txt\n{\n",
        b"a/README.md": b"# $REPO_NAME\n",
        b"plain.txt": b"$REPO_NAME",
        b"src/$REPO_NAME/main.go": b"package ${REPO_NAME_SNAKE}",
        b"src/$REPO_NAME/x/y.go": b"$REPO_NAME",
        b"d/${REPO_DESCRIPTION}.txt": b"x",
    }
    assert expanded_files(folder, files) == {
        b"a/README.md": b"# go-sdk\n",
        b"plain.txt": b"$REPO_NAME",
        b"src/go-sdk/main.go": b"package go_sdk",
        b"src/$REPO_NAME/x/y.go": b"$REPO_NAME",
        b"d/A $REPO_NAME_.txt": b"x",
    }


def test_a_path_that_is_taken_or_not_allowed_stays(folder: Path) -> None:
    """A path whose expansion conflicts with another file is not expanded, so that no file is lost."""
    files = {
        b".gitea/template": b"**",
        b"$REPO_NAME": b"1",
        b"go-sdk": b"2",
        b"$REPO_OWNER/x": b"3",
        b"ada": b"4",
    }
    assert expanded_files(folder, files) == {
        b"$REPO_NAME": b"1",
        b"go-sdk": b"2",
        b"$REPO_OWNER/x": b"3",
        b"ada": b"4",
    }


def test_the_work_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files, and files beyond the limit of expanded bytes, are copied unchanged."""
    monkeypatch.setattr(template_variables, "LARGEST_FILE", 20)
    monkeypatch.setattr(template_variables, "MOST_BYTES", 15)
    files = {b".gitea/template": b"**", b"a": b"$REPO_NAME", b"b": b"$REPO_NAME" * 3, b"c": b"$REPO_NAME"}
    assert expanded_files(folder, files) == {b"a": b"go-sdk", b"b": b"$REPO_NAME" * 3, b"c": b"$REPO_NAME"}


def test_a_file_as_large_as_the_limits_is_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of exactly the size limit is expanded, and a list of patterns over it is ignored."""
    monkeypatch.setattr(template_variables, "LARGEST_FILE", 10)
    monkeypatch.setattr(template_variables, "MOST_BYTES", 10)
    for pattern, expanded in ((b"**\n#######", b"go-sdk"), (b"**\n########", b"$REPO_NAME")):
        assert expanded_files(folder, {b".gitea/template": pattern, b"a": b"$REPO_NAME"}) == {b"a": expanded}


def test_patterns_are_read_up_to_a_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments and invalid patterns do not count towards the limit of patterns."""
    monkeypatch.setattr(template_variables, "MOST_PATTERNS", 2)
    files = {b".gitea/template": b"# x\n[\na\nb\nc\n", **dict.fromkeys((b"a", b"b", b"c"), b"$REPO_NAME")}
    assert expanded_files(folder, files) == {b"a": b"go-sdk", b"b": b"go-sdk", b"c": b"$REPO_NAME"}


def test_a_template_without_the_list_is_copied_unchanged(folder: Path) -> None:
    """Without `.gitea/template` no variables are expanded."""
    files = {b"README.md": b"$REPO_NAME"}
    assert expanded_files(folder, files) == files
