"""Find links of the documentation that lead nowhere: files that are not there, headings that do not exist."""

import argparse
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
PLACES = ("*.md", "docs/**/*.md", "changelog.d/*.md", "tests/**/*.md")
FOREIGN = "node_modules"


def anchors(text: str) -> set[str]:
    """Name the headings of a page the way hosts do."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in HEADING.findall(text)}


def dead_links(root: Path) -> list[str]:
    """List the links that lead nowhere, each with its page."""
    dead = []
    pages = {path for pattern in PLACES for path in root.glob(pattern) if FOREIGN not in path.parts}
    for page in sorted(pages):
        for target in LINK.findall(CODE.sub("", page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (page.parent / path) if path else page
            if not place.exists():
                dead.append(f"{page.relative_to(root)}: {target}")
            elif anchor and anchor not in anchors(place.read_text()):
                dead.append(f"{page.relative_to(root)}: {target} (no such heading)")
    return dead


def main() -> int:
    """Print the dead links."""
    description = "List the dead links of the documentation, and fail if there are any."
    argparse.ArgumentParser(prog="python -m tools.links", description=description).parse_args()
    dead = dead_links(Path())
    if dead:
        print("links that lead nowhere:", *dead, sep="\n  ")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
