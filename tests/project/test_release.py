"""Release checks: version, changelog, tag, URLs and distributions."""

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from tools import release
from tools.distributions import normalize_sdist, write_checksums

from tests.conftest import ROOT

METADATA = "Metadata-Version: 2.4\nName: {name}\nVersion: 1.2.3\nSummary: Keeps things.\n"


def write_wheel(path: Path, name: str = "holdfast", metadata: str = METADATA, *, is_built: bool = True) -> None:
    """Write a minimal wheel."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name.replace('-', '_')}-1.2.3.dist-info/METADATA", metadata.format(name=name))
        if name == "holdfast" and is_built:
            archive.writestr(release.MANIFEST, "{}")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout of version 1.2.3 with everything that its release needs."""
    root = tmp_path / "checkout"
    (root / "src/holdfast_demo").mkdir(parents=True)
    (root / "changelog.d").mkdir()
    (root / "dist").mkdir()
    for name in ("pyproject.toml", "src/holdfast_demo/pyproject.toml"):
        text = (ROOT / name).read_text().replace("0.2.0", "1.2.3").replace(release.RESERVED, "holdfast.test")
        (root / name).write_text(text)
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        (root / name).write_text("Write to us.\n")
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.3 (2026-11-17)\n\nA text.\n\n## 1.2.2 (2026-10-01)\n"
    )
    (root / "changelog.d/README.md").write_text("How.\n")
    (root / ".gitignore").write_text("dist/\n")
    for arguments in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "--quiet", "-m", "Release"],
        ["tag", "v1.2.3"],
    ):
        subprocess.run(["git", *arguments], check=True, cwd=root)
    write_wheel(root / "dist/holdfast-1.2.3-py3-none-any.whl")
    write_wheel(root / "dist/holdfast-1.2.3-cp311-cp311-manylinux_2_17_x86_64.whl")
    write_wheel(root / "dist/holdfast_demo-1.2.3-py3-none-any.whl", "holdfast-demo")
    with tarfile.open(root / "dist/holdfast-1.2.3.tar.gz", "w:gz") as archive:
        content = METADATA.format(name="holdfast").encode()
        member = tarfile.TarInfo("holdfast-1.2.3/PKG-INFO")
        member.size = len(content)
        archive.addfile(member, BytesIO(content))
        archive.addfile(tarfile.TarInfo(f"holdfast-1.2.3/src/{release.MANIFEST}"))
    write_checksums(root / "dist")
    return root


def test_a_complete_release_has_no_problems(checkout: Path) -> None:
    """The check of a complete release finds no problem."""
    assert release.problems(checkout, checkout / "dist") == []


def replace(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Return a change to a file of the checkout."""

    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))

    return change


def delete(name: str) -> Callable[[Path], None]:
    """Return the deletion of a file of the checkout."""
    return lambda root: (root / name).unlink()


def untag(root: Path) -> None:
    """Delete the tag."""
    subprocess.run(["git", "tag", "--delete", "v1.2.3"], check=True, cwd=root, capture_output=True)


def empty_metadata(root: Path) -> None:
    """Write a wheel whose metadata has no version."""
    name = root / "dist/holdfast-1.2.3-py3-none-any.whl"
    write_wheel(name, metadata="Metadata-Version: 2.4\nName: {name}\n")
    write_checksums(root / "dist")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (replace("pyproject.toml", 'version = "1.2.3"', 'version = "1.3.0"'), "holdfast-demo has version 1.2.3"),
        (replace("pyproject.toml", 'version = "1.2.3"', 'version = "1.3"'), "is not of the form 1.2.3"),
        (replace("pyproject.toml", "demo==1.2.3", "demo==1.2.2"), "the extra `demo` does not name"),
        (replace("src/holdfast_demo/pyproject.toml", "holdfast==1.2.3", "holdfast"), "does not depend on"),
        (replace("CHANGELOG.md", "## 1.2.3 (2026-11-17)", ""), "the changelog does not begin with version 1.2.3"),
        (replace("CHANGELOG.md", " (2026-11-17)", ""), "has no date in the changelog"),
        (lambda root: (root / "changelog.d/+new.added.md").write_text("New.\n"), "1 fragments in changelog.d"),
        (replace("SECURITY.md", "us", "security@holdfast.example"), "SECURITY.md has the reserved domain"),
        (untag, "this commit has no tag v1.2.3"),
        (replace("SECURITY.md", "us", "them"), "changes that are not committed"),
        (delete("dist/holdfast-1.2.3.tar.gz"), "no sdist distribution of holdfast:"),
        (delete("dist/holdfast-1.2.3-py3-none-any.whl"), "no pure distribution of holdfast:"),
        (delete("dist/holdfast_demo-1.2.3-py3-none-any.whl"), "no pure distribution of holdfast-demo"),
        (delete("dist/holdfast-1.2.3-cp311-cp311-manylinux_2_17_x86_64.whl"), "no compiled distribution"),
        (delete("dist/SHA256SUMS"), "SHA256SUMS does not have the checksum of holdfast-1.2.3.tar.gz"),
        (
            lambda root: write_wheel(root / "dist/holdfast-1.2.3-py3-none-any.whl", is_built=False),
            "holdfast-1.2.3-py3-none-any.whl lacks the editor, formulas and diagrams",
        ),
        (empty_metadata, "holdfast-1.2.3-py3-none-any.whl: "),
        (
            lambda root: write_wheel(root / "dist/holdfast-1.2.2-py3-none-any.whl"),
            "holdfast-1.2.2-py3-none-any.whl is of version 1.2.2",
        ),
    ],
)
def test_what_is_missing_is_named(checkout: Path, change: Callable[[Path], object], says: str) -> None:
    """The check reports each kind of mistake in a release with its own message."""
    change(checkout)
    assert any(says in problem for problem in release.problems(checkout, checkout / "dist"))


def test_the_signature_of_the_checksums_can_be_verified(checkout: Path, tmp_path: Path) -> None:
    """`ssh-keygen -Y verify` accepts the signature for these checksums and for no others."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    signature = release.sign(checkout / "dist", key)
    (tmp_path / "signers").write_text(f"release@holdfast.test {(tmp_path / 'key.pub').read_text()}")
    verify: list[str | Path] = [
        *("ssh-keygen", "-Y", "verify", "-f", tmp_path / "signers", "-I", "release@holdfast.test"),
        *("-n", release.NAMESPACE, "-s", signature),
    ]
    sums = (checkout / "dist/SHA256SUMS").read_bytes()
    assert subprocess.run(verify, input=sums, check=False, capture_output=True).returncode == 0
    assert subprocess.run(verify, input=sums + b" ", check=False, capture_output=True).returncode != 0


def test_the_order_and_the_times_of_an_sdist_do_not_show(tmp_path: Path) -> None:
    """Two archives of the same files in another order are normalized to the same bytes."""
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    for name, order in (("x.tar.gz", "ab"), ("y.tar.gz", "ba")):
        with tarfile.open(tmp_path / name, "w:gz") as archive:
            for file in order:
                archive.add(tmp_path / file, file)
        shutil.copystat(ROOT / "LICENSE", tmp_path / "a")
        normalize_sdist(tmp_path / name, 1_700_000_000)
    assert (tmp_path / "x.tar.gz").read_bytes() == (tmp_path / "y.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "x.tar.gz") as archive:
        assert [(member.name, member.mtime, member.uid) for member in archive] == [
            ("a", 1_700_000_000, 0),
            ("b", 1_700_000_000, 0),
        ]
