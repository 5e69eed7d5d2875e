"""The lock files pin every dependency by version and hash, and name no registry."""

import json
import re
import tomllib

import pytest

from tests.conftest import ROOT
from tests.project.project_files import locked_versions

LOCKS = (
    *("build", "runtime", "server", "parquet", "dataset", "ray", "postgres", "keyring", "encryption", "otel"),
    *("wheels", "dev"),
)


@pytest.mark.parametrize("name", [*LOCKS, "clients", "fuzz"])
def test_every_pin_has_a_hash_and_no_line_names_a_host(name: str) -> None:
    """Packages are pinned by hash, so that they are the same from any package index."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    for block in re.split(r"\n(?=[a-z0-9])", text):
        if "==" in block:
            assert "--hash=sha256:" in block, block[:60]


def test_the_files_agree_with_each_other() -> None:
    """Each package has the same version in all lock files, because they are installed together."""
    locked = locked_versions("dev")
    for name in LOCKS:
        assert locked_versions(name).items() <= locked.items()


def test_what_the_package_asks_for_is_locked() -> None:
    """Each dependency in pyproject.toml has a lock entry, or it would be missing on a new machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    # Built from this repository, at the same version.
    assert project["project"]["optional-dependencies"].pop("demo") == [
        f"holdfast-demo=={project['project']['version']}"
    ]
    required = {
        "runtime": project["project"]["dependencies"],
        **project["project"]["optional-dependencies"],
        "dev": project["dependency-groups"]["dev"],
        "build": project["dependency-groups"]["build"],
        "clients": project["dependency-groups"]["clients"],
        "wheels": project["dependency-groups"]["wheels"],
    }
    for name, requirements in required.items():
        for requirement in requirements:
            package = re.split(r"[\[><=]", requirement)[0].lower()
            assert package in locked_versions(name), f"requirements/{name}.txt has no {package}; run `make lock`"


def test_the_core_install_has_no_pydantic() -> None:
    """Pydantic and click are not locked for the core, since Typer would load Pydantic in many commands."""
    assert "typer" in locked_versions("runtime")
    assert not {"pydantic", "pydantic-core", "click"} & locked_versions("runtime").keys()


def test_packages_of_other_languages_are_locked_too() -> None:
    """Packages of npm and Go packages have hashes, and those of npm have no download URL."""
    folder = ROOT / "tests" / "compat" / "clients"
    for lock in (folder / "js", ROOT / "tests/browser/js", ROOT / "assets"):
        packages = json.loads((lock / "package-lock.json").read_text())["packages"]
        for name, package in packages.items():
            assert not name or package["integrity"].startswith("sha512-"), name
            assert "resolved" not in package, name
    sums = (folder / "go" / "go.sum").read_text()
    for module, version in re.findall(
        r"^\t?(?:require )?(\S+\.\S+/\S+) (v\S+)", (folder / "go" / "go.mod").read_text(), re.MULTILINE
    ):
        assert f"{module} {version} h1:" in sums, module
