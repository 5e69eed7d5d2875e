"""The hosted CI workflows: valid, and equal to the checks of `.ci/run`."""

import os
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it exports no types

from tests.conftest import ROOT
from tests.project.project_files import locked_versions, schema_errors

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


def built_wheels(system: str, **environment: str) -> set[str]:
    """Return the wheels that cibuildwheel would build for a platform, as it names them."""
    command = [sys.executable, "-m", "cibuildwheel", "--platform", system, "--print-build-identifiers", str(ROOT)]
    completed = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return set(completed.stdout.split())


@pytest.mark.parametrize(
    ("system", "kinds"),
    [
        (
            "linux",
            ("manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64"),
        ),
        ("macos", ("macosx_x86_64", "macosx_arm64")),
        ("windows", ("win_amd64",)),
    ],
)
def test_wheels_are_built_for_every_python_that_is_declared(system: str, kinds: tuple[str, ...]) -> None:
    """The built Python versions are exactly those of the classifiers, for the supported processors."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        match[1].replace(".", "")
        for classifier in project["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    ]
    assert built_wheels(system) == {f"cp{python}-{kind}" for python in declared for kind in kinds}


def test_each_linux_runner_builds_the_wheels_of_its_processor() -> None:
    """With the setting of the workflow, a runner for x86-64 builds no wheel that it would have to emulate."""
    (build,) = [step for step in load("release.yml")["jobs"]["wheels"]["steps"] if "CIBW_ARCHS_LINUX" in str(step)]
    built = built_wheels("linux", **build["env"])
    assert built
    assert {name.partition("linux_")[2] for name in built} == {platform.machine()}
    (runners,) = load("release.yml")["jobs"]["wheels"]["strategy"]["matrix"].values()
    assert {"ubuntu-24.04", "ubuntu-24.04-arm"} <= set(runners)


def test_wheels_are_built_with_the_locked_versions() -> None:
    """The program that builds the published wheels, and all that it needs, are pinned by hash."""
    steps = load("release.yml")["jobs"]["wheels"]["steps"]
    (install,) = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert install == "python -m pip install --require-hashes -r requirements/wheels.txt"
    assert locked_versions("wheels")["cibuildwheel"] == locked_versions("dev")["cibuildwheel"]


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
