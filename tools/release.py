"""Check that a release is complete: version, changelog, tag, addresses and distributions. Nothing is published.

    python -m tools.release            everything that must hold before the tag is pushed
    python -m tools.release --sign KEY and sign the checksums with an SSH key

`make release` builds the distributions first.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.metadata import Metadata
from packaging.utils import parse_sdist_filename, parse_wheel_filename

from tools.distributions import CHECKSUMS

__all__ = ["problems", "sign"]

# The reserved domain that stands for the addresses of the project until it has some.
RESERVED = "holdfast.example"
PAGES_WITH_ADDRESSES = ("pyproject.toml", "SECURITY.md", "CODE_OF_CONDUCT.md")
NAMESPACE = "holdfast-release"
# What `make assets` writes last.
MANIFEST = "holdfast/web/static/bundles/manifest.json"


def problems(root: Path, folder: Path) -> list[str]:
    """List what keeps the version of a checkout from being released with the distributions in a folder."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return [
        *version_problems(root, version),
        *changelog_problems(root, version),
        *address_problems(root),
        *tag_problems(root, version),
        *distribution_problems(folder, version),
    ]


def version_problems(root: Path, version: str) -> Iterator[str]:
    """Check that the two distributions have one version and name each other by it."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    demo = tomllib.loads((root / "src/holdfast_demo/pyproject.toml").read_text())["project"]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"the version {version} is not of the form 1.2.3"
    if demo["version"] != version:
        yield f"holdfast-demo has version {demo['version']}, not {version}"
    if demo["dependencies"] != [f"holdfast=={version}"]:
        yield f"holdfast-demo does not depend on holdfast=={version}"
    if project["optional-dependencies"]["demo"] != [f"holdfast-demo=={version}"]:
        yield f"the extra `demo` does not name holdfast-demo=={version}"


def changelog_problems(root: Path, version: str) -> Iterator[str]:
    """Check that the changelog has the version with a date, first, and that no fragment is left."""
    headings = re.findall(
        r"^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$", (root / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    if not headings or headings[0][0] != version:
        yield f"the changelog does not begin with version {version}: run `towncrier build --version {version}`"
    elif not headings[0][1]:
        yield f"version {version} has no date in the changelog"
    left = [path.name for path in (root / "changelog.d").iterdir() if path.name.startswith("+")]
    if left:
        yield f"{len(left)} fragments in changelog.d are not in the changelog"


def address_problems(root: Path) -> Iterator[str]:
    """Check that the reserved domain was replaced by the addresses of the project."""
    for name in PAGES_WITH_ADDRESSES:
        if RESERVED in (root / name).read_text():
            yield f"{name} has the reserved domain {RESERVED}: write the address of the project"


def tag_problems(root: Path, version: str) -> Iterator[str]:
    """Check that the working tree is clean and its commit has the tag of the version."""
    if git(root, "status", "--porcelain"):
        yield "the working tree has changes that are not committed"
    if f"v{version}" not in git(root, "tag", "--points-at", "HEAD").split():
        yield f"this commit has no tag v{version}: run `git tag --sign v{version}`"


def git(root: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], check=True, cwd=root, capture_output=True, text=True).stdout.strip()


def distribution_problems(folder: Path, version: str) -> Iterator[str]:
    """Check that the distributions of the version are there, with their checksums and valid metadata."""
    files = sorted(folder.glob("*.whl")) + sorted(folder.glob("*.tar.gz"))
    kinds: set[tuple[str, str]] = set()
    for path in files:
        try:
            name, found, kind = describe(path)
            Metadata.from_email(metadata(path), validate=True)
        except (ValueError, ExceptionGroup, OSError) as error:
            yield f"{path.name}: {error}"
            continue
        kinds.add((name, kind))
        if name == "holdfast" and not any(one.endswith(MANIFEST) for one in file_names(path)):
            yield f"{path.name} lacks the editor, formulas and diagrams: run `make assets packages`"
        if found != version:
            yield f"{path.name} is of version {found}, not {version}"
    for expected in (
        ("holdfast", "sdist"),
        ("holdfast", "compiled"),
        ("holdfast", "pure"),
        ("holdfast-demo", "pure"),
    ):
        if expected not in kinds:
            yield f"{folder} has no {expected[1]} distribution of {expected[0]}: run `make packages`"
    sums = folder / CHECKSUMS
    lines = sums.read_text().splitlines() if sums.is_file() else []
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for path in files:
        if listed.get(path.name) != hashlib.sha256(path.read_bytes()).hexdigest():
            yield f"{CHECKSUMS} does not have the checksum of {path.name}"


def describe(path: Path) -> tuple[str, str, str]:
    """Return the name, version and kind of a distribution from its file name."""
    if path.suffix == ".whl":
        name, version, _, tags = parse_wheel_filename(path.name)
        return name, str(version), "pure" if all(tag.platform == "any" for tag in tags) else "compiled"
    name, version = parse_sdist_filename(path.name)
    return name, str(version), "sdist"


def file_names(path: Path) -> list[str]:
    """List the files in a distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    with tarfile.open(path) as archive:
        return archive.getnames()


def metadata(path: Path) -> bytes:
    """Read the metadata of a distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
            return archive.read(name)
    with tarfile.open(path) as archive:
        name = f"{path.name.removesuffix('.tar.gz')}/PKG-INFO"
        file = archive.extractfile(name)
        assert file is not None, name
        return file.read()


def sign(folder: Path, key: Path) -> Path:
    """Sign the checksums with an SSH key; `ssh-keygen -Y verify -n holdfast-release` checks the signature."""
    signature = folder / f"{CHECKSUMS}.sig"
    signature.unlink(missing_ok=True)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key, folder / CHECKSUMS],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return signature


def main(arguments: list[str] | None = None) -> int:
    """Print what is missing, or what to do to publish."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description="Check that a release is complete."
    )
    parser.add_argument("--from", dest="folder", type=Path, default=Path("dist"))
    parser.add_argument("--sign", type=Path, metavar="KEY", help="an SSH key to sign the checksums with")
    options = parser.parse_args(arguments)
    found = problems(Path(), options.folder)
    if found:
        print("not ready to be released:", *found, sep="\n  ")
        return 1
    if options.sign:
        print(f"signed: {sign(options.folder, options.sign)}")
    print("ready. `git push origin --tags` publishes: .github/workflows/release.yml builds and uploads")
    return 0


if __name__ == "__main__":
    sys.exit(main())
