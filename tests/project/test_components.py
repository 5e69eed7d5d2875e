"""The list of components (SBOM) with their licences, compared with the lock files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.components import bill_of_materials, bundled_components, components

from tests.conftest import ROOT
from tests.project.project_files import locked_versions

# Licences under which code may be linked to from Apache-2.0; a new one is read before it is added.
PERMISSIVE = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Unlicense",
    "Zlib",
}
# Weaker or stronger copyleft, each looked at: used unmodified, as separate packages.
COPYLEFT = {
    "dompurify": "MPL-2.0 OR Apache-2.0",
    "asyncssh": "EPL-2.0 OR GPL-2.0-or-later",
    "certifi": "MPL-2.0",
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
    "pygit2": "LicenseRef-GPL-2.0-with-linking-exception",
}


def test_every_component_has_a_licence_that_was_looked_at() -> None:
    """Each component has a permissive license or is a listed exception, so that others need a decision."""
    for item in [*components(ROOT), *bundled_components(ROOT)]:
        is_permissive = set(item.license.replace(" OR ", " ").replace(" AND ", " ").split()) <= PERMISSIVE
        assert is_permissive or COPYLEFT.get(item.name) == item.license, f"{item.name}: {item.license}"


def test_the_list_has_every_package_a_user_installs() -> None:
    """The packages of the core and the extras are listed at their locked versions, the core as required."""
    everything = bill_of_materials(ROOT)["components"]
    listed = {item["name"]: item for item in everything if item["purl"].startswith("pkg:pypi/")}
    locked = {
        name: version
        for lock in (
            *("runtime", "server", "postgres", "parquet", "dataset", "ray", "s3", "keyring", "encryption"),
            "otel",
        )
        for name, version in locked_versions(lock).items()
    }
    assert {name: item["version"] for name, item in listed.items()} == locked
    required = {name for name, item in listed.items() if item["scope"] == "required"}
    assert required == locked_versions("runtime").keys()
    assert "pytest" not in listed


def test_the_list_has_the_packages_of_bundled_scripts() -> None:
    """The npm packages of the bundled scripts are listed, and the tools that build them are not."""
    items = bill_of_materials(ROOT)["components"]
    listed = {item["purl"] for item in items if item["purl"].startswith("pkg:npm/")}
    names = {purl.removeprefix("pkg:npm/").rpartition("@")[0] for purl in listed}
    assert {"mermaid", "temml", "%40codemirror/view"} <= names
    assert not {"esbuild", "elkjs", "%40types/d3"} & names
    manifest = ROOT / "src/holdfast/web/static/bundles/manifest.json"
    if not manifest.exists():
        pytest.skip("nothing is bundled: run `make assets`")
    built = json.loads(manifest.read_text())["packages"]
    assert len(built) > 50
    for package in built:
        assert f"pkg:npm/{package['name'].replace('@', '%40')}@{package['version']}" in listed
        assert f"\n{package['name']} {package['version']} (" in (manifest.parent / "LICENSES.txt").read_text()


def test_the_list_is_the_same_for_the_same_sources(tmp_path: Path) -> None:
    """Two runs give the same bytes, because the list is part of a reproducible release."""
    documents = []
    for name in ("one.cdx.json", "two.cdx.json"):
        command: list[str | Path] = [sys.executable, "-m", "tools.components", tmp_path / name]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        documents.append((tmp_path / name).read_bytes())
    assert documents[0] == documents[1]
    document = json.loads(documents[0])
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    references = {item["bom-ref"] for item in document["components"]}
    assert set(document["dependencies"][0]["dependsOn"]) == references
