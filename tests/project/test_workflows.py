"""The hosted CI workflows: valid, and equal to the checks of `.ci/run`."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it exports no types

from tests.conftest import ROOT
from tests.project.project_files import schema_errors

FOLDER = ROOT / ".github"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))


def load(name: str) -> dict[str, Any]:
    """Read a workflow."""
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "workflows" / name).read_text())
    return loaded


def test_workflows_and_forms_fit_their_schemas() -> None:
    """Workflows and issue forms are valid against their schemas before they are pushed."""
    assert schema_errors("vendor.github-workflows", *WORKFLOWS) == ""
    assert schema_errors("custom.github-workflows-require-timeout", FOLDER / "workflows/ci.yml") == ""
    forms = sorted(path for path in (FOLDER / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
    assert len(forms) == 2
    assert schema_errors("vendor.github-issue-forms", *forms) == ""
    assert schema_errors("vendor.github-issue-config", FOLDER / "ISSUE_TEMPLATE/config.yml") == ""


def test_the_validator_finds_a_mistake(tmp_path: Path) -> None:
    """The validator reports an invalid workflow, so that the test above can fail."""
    broken = tmp_path / "ci.yml"
    broken.write_text((FOLDER / "workflows/ci.yml").read_text().replace("runs-on:", "runson:"))
    assert "runson" in schema_errors("vendor.github-workflows", broken)


def test_hosted_ci_runs_the_ci_script() -> None:
    """The hosted workflow runs only `.ci/run`, so that its checks are the same as those run locally."""
    (job,) = load("ci.yml")["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == ['git config --global --add safe.directory "$PWD"', ".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_hosted_ci_runs_on_the_oldest_and_the_newest_python() -> None:
    """The oldest is the one that pyproject.toml requires, the newest the last that it declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = load("ci.yml")["jobs"]["run"]["strategy"]["matrix"]["python"]
    assert project["requires-python"] == f">={pythons[0]}"
    declared = [
        match[1]
        for classifier in project["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    ]
    assert pythons == [declared[0], declared[-1]]


def test_wheels_are_built_for_every_python_that_is_declared() -> None:
    """The built Python versions are those of the classifiers, for Linux, macOS and Windows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {
        match[1].replace(".", "")
        for classifier in project["project"]["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    }
    built = set(re.findall(r"cp(\d+)-\*", project["tool"]["cibuildwheel"]["build"]))
    assert built == declared
    archs = project["tool"]["cibuildwheel"]
    assert set(archs["linux"]["archs"]) == {"x86_64", "aarch64"}
    assert {"macos", "windows"} <= archs.keys()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_get_no_rights_they_do_not_need(path: Path) -> None:
    """Tokens are read-only except in the publish job, and no action is used from its main branch."""
    loaded = load(path.name)
    assert loaded["permissions"] == {"contents": "read"}
    for name, job in loaded["jobs"].items():
        assert ("permissions" in job) == (name == "publish")
        for step in job["steps"]:
            assert "@" in step.get("uses", "@")
            assert "main" not in step.get("uses", "").partition("@")[2]


def test_the_release_needs_no_checkout() -> None:
    """`gh` reads `--notes-from-tag` from a local repository, and refuses it together with `--repo`."""
    steps = load("release.yml")["jobs"]["publish"]["steps"]
    assert not any("checkout" in step.get("uses", "") for step in steps)
    (command,) = [step["run"] for step in steps if "gh release create" in step.get("run", "")]
    assert '--repo "$GITHUB_REPOSITORY"' in command
    assert '--notes "$NOTES"' in command
    assert "--notes-from-tag" not in command


def test_targets_of_workflows_exist() -> None:
    """Each make target that a workflow runs is in the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in WORKFLOWS:
        for target in re.findall(r"run: make ([a-z-]+)", path.read_text()):
            assert target in targets


def test_code_owners_name_folders_that_exist() -> None:
    """Each pattern is an existing path, because a renamed folder would have no owner."""
    patterns = [line.split()[0] for line in (FOLDER / "CODEOWNERS").read_text().splitlines() if line[:1] in "*/"]
    assert patterns[0] == "*"
    for pattern in patterns[1:]:
        assert (ROOT / pattern.strip("/")).exists(), pattern
