"""Build the documentation as a site with MkDocs; a link that leads nowhere fails the build.

    python -m tools.site [FOLDER]      writes to site/ unless a folder is named

Pages of the project outside docs/ (SECURITY.md and its like) become pages below `project/`, and links follow them.
Links to other files of the repository become links to where its sources are.
"""

import argparse
import logging
import os
import re
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config

__all__ = ["build", "stage"]

PROJECT = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(#[^)\s]*)?(?=\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def stage(root: Path, folder: Path) -> None:
    """Copy the pages into a folder as the site has them, with links that fit."""
    source = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    shutil.copytree(root / "docs", folder)
    (folder / "project").mkdir()
    for name in PROJECT:
        shutil.copy(root / name, folder / "project")
    for page in folder.rglob("*.md"):
        relative = page.relative_to(folder)
        original = root / relative.name if relative.parts[0] == "project" else root / "docs" / relative
        parts = CODE.split(page.read_text())
        moved = partial(relocate, Places(root, folder, source), original, page)
        parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
        page.write_text("".join(parts))


@dataclass(frozen=True, slots=True)
class Places:
    """Where pages come from, where they go, and the address of the sources."""

    root: Path
    folder: Path
    source: str


def relocate(places: Places, original: Path, page: Path, match: re.Match[str]) -> str:
    """Return a link of a page as it is in the site."""
    target = Path(os.path.normpath(original.parent / match[1]))
    docs = places.root / "docs"
    anchor = match[2] or ""
    if target.is_relative_to(docs) and target.is_file():
        place = places.folder / target.relative_to(docs)
    elif target.parent == places.root and target.name in PROJECT:
        place = places.folder / "project" / target.name
    elif target == places.root / "README.md":
        place = places.folder / "README.md"
    elif target.exists():
        return f"{places.source}/src/branch/main/{target.relative_to(places.root)}{anchor}"
    else:
        return match[0]
    return Path(os.path.relpath(place, page.parent)).as_posix() + anchor


def build(root: Path, into: Path) -> None:
    """Build the site into a folder; warnings are errors."""
    with tempfile.TemporaryDirectory(prefix="holdfast-site-") as folder:
        pages = Path(folder) / "docs"
        stage(root, pages)
        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        config = load_config(str(root / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(into), strict=True)
        build_site(config)


def main() -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.site", description="Build the documentation as a site, and fail on a dead link."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("site"), help="where to (default: site)")
    into = parser.parse_args().folder.resolve()
    build(Path.cwd(), into)
    print(into / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
