"""The components Holdfast is installed with, from the locks: a page of licences, and a CycloneDX list (SBOM).

python -m tools.components dist/holdfast-0.2.0.cdx.json
"""

import argparse
import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from tools.distributions import source_date

__all__ = ["Component", "bill_of_materials", "bundled_components", "components", "page"]

# What each lock installs, in the words of the page; a lock has what the one before it has not.
LOCKS = {
    "runtime": "core",
    "server": "server",
    "postgres": "postgres",
    "parquet": "parquet",
    "dataset": "dataset",
    "ray": "ray",
    "s3": "s3",
    "keyring": "keyring",
    "encryption": "encryption",
    "otel": "otel",
}
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;\\]+)", re.MULTILINE)
# Licences as some metadata spells them, and the SPDX identifiers of those.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "GPLv2 with linking exception": "LicenseRef-GPL-2.0-with-linking-exception",
    "ISC License": "ISC",
}
SPDX = re.compile(r"(LicenseRef-)?[\w.-]+( (OR|AND|WITH) [\w.-]+)*")
# Metadata that says too little: only a classifier, or a name that stands for several licences. And packages that
# are installed on other systems or with older versions of Python only.
BY_NAME = {
    "backports-tarfile": "MIT",
    "importlib-metadata": "Apache-2.0",
    "jaraco-classes": "MIT",
    "jeepney": "MIT",
    "secretstorage": "BSD-3-Clause",
    "segno": "BSD-3-Clause",
    "pyasn1-modules": "BSD-2-Clause",
    "pyopenssl": "Apache-2.0",
    "pywin32-ctypes": "BSD-3-Clause",
    "zipp": "MIT",
    "jinja2": "BSD-3-Clause",
    "markdown-it-py": "MIT",
    "mdit-py-plugins": "MIT",
    "mdurl": "MIT",
    "obstore": "MIT",
    "colorama": "BSD-3-Clause",
    "duckdb": "MIT",
    "sqlcipher3": "Zlib",
    "uvloop": "MIT OR Apache-2.0",
}
# The scripts of the website are bundled from these; types, and what the build leaves out, get into none of them.
NPM_LOCK = Path("assets/package-lock.json")
NOT_BUNDLED = re.compile(r"@types/.*|elkjs")
NPM_LICENCES = {"khroma": "MIT"}
NAMESPACE = uuid.UUID("2a5b0d0e-9f1c-5c55-8a67-0d7a1c7a4f11")


@dataclass(frozen=True, slots=True)
class Component:
    """A locked distribution."""

    name: str
    version: str
    license: str
    extras: list[str] = field(default_factory=list)
    """The parts of Holdfast that need it; `core` is the install without extras."""
    kind: str = "pypi"
    """Where it comes from, as a package URL says it."""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"


def components(root: Path) -> list[Component]:
    """Read the locks of everything a user installs; build and development tools are not among them."""
    found: dict[str, Component] = {}
    for lock, extra in LOCKS.items():
        for name, version in sorted(set(PIN.findall((root / "requirements" / f"{lock}.txt").read_text()))):
            one = found.setdefault(name, Component(name, version, licence_of(name)))
            if "core" not in one.extras:
                one.extras.append(extra)
    return sorted(found.values(), key=lambda one: one.name)


def bundled_components(root: Path) -> list[Component]:
    """Read the lock of the npm packages that the scripts of the website are bundled with."""
    found: dict[str, Component] = {}
    for path, package in json.loads((root / NPM_LOCK).read_text())["packages"].items():
        name = path.rpartition("node_modules/")[2]
        if not name or package.get("dev") or package.get("optional") or NOT_BUNDLED.fullmatch(name):
            continue
        licence = package.get("license") or NPM_LICENCES[name]
        one = Component(name, package["version"], licence.strip("()"), ["website"], "npm")
        found[one.purl] = one
    return sorted(found.values(), key=lambda one: one.purl)


def licence_of(name: str) -> str:
    """Return the SPDX expression of an installed distribution; fail if its metadata names none we know."""
    if name in BY_NAME:
        return BY_NAME[name]
    about = metadata(name)
    stated = next((about[key] for key in ("License-Expression", "License") if key in about), "")
    expression = SPELLINGS.get(stated, stated)
    if not SPDX.fullmatch(expression):
        raise SystemExit(f"{name}: what licence is {stated[:60]!r}? Add it to BY_NAME in {Path(__file__).name}")
    return expression


def page(root: Path) -> str:
    """Write the page of licences."""
    lines = [
        "# Licences of dependencies\n",
        "What an installation of Holdfast (Apache-2.0) brings along, from the locks in `requirements/`. Licences",
        "are SPDX expressions. `core` is the install without extras; each extra has what the core has, and more.",
        "Holdfast links to these packages and contains no copy of them.\n",
        *table(components(root)),
        "\n## Bundled scripts\n",
        "The scripts of the editor, formulas and diagrams are bundled from npm packages by `make assets`, and are",
        "part of wheels and images, with the texts of the licences in `web/static/bundles/LICENSES.txt`.\n",
        *table(bundled_components(root)),
    ]
    return "\n".join([*lines, ""])


def table(listed: list[Component]) -> list[str]:
    """Return the lines of a table of components."""
    return [
        "| package | version | licence | for |",
        "|---|---|---|---|",
        *(f"| {one.name} | {one.version} | {one.license} | {', '.join(one.extras)} |" for one in listed),
    ]


def bill_of_materials(root: Path) -> dict[str, Any]:
    """Return the components as a CycloneDX document."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    listed = [*components(root), *bundled_components(root)]
    date = datetime.fromtimestamp(source_date(root), UTC)
    identity = uuid.uuid5(NAMESPACE, f"{project['version']} {listed!r}")
    own = f"pkg:pypi/holdfast@{project['version']}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {
            "timestamp": date.isoformat().replace("+00:00", "Z"),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "holdfast",
                "version": project["version"],
                "purl": own,
                "licenses": [{"expression": project["license"]}],
            },
        },
        "components": [
            {
                "type": "library",
                "bom-ref": one.purl,
                "name": one.name,
                "version": one.version,
                "purl": one.purl,
                "scope": "required" if "core" in one.extras else "optional",
                "licenses": [{"expression": one.license}],
                "properties": [{"name": "holdfast:extra", "value": extra} for extra in one.extras],
            }
            for one in listed
        ],
        "dependencies": [{"ref": own, "dependsOn": [one.purl for one in listed]}],
    }


def main() -> int:
    """Write the CycloneDX document to the file that is named."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.components", description="Write the list of components (SBOM) in CycloneDX JSON."
    )
    parser.add_argument("target", type=Path, metavar="FILE")
    target: Path = parser.parse_args().target
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(bill_of_materials(Path()), indent=1) + "\n")
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
