"""The documentation: complete, up to date, and without broken links."""

import re

from tools import links, reference

from holdfast.settings import describe
from tests.conftest import ROOT


def test_every_command_has_help_and_a_page() -> None:
    """Each command has a help text and a section in the reference."""
    for command in reference.commands():
        assert command.help.endswith("."), command.words
        for option in (*command.arguments, *command.options):
            assert option.help, (command.words, option.spelling)
        assert (ROOT / "docs/reference/commands" / command.page).is_file()


def test_tables_of_the_reference_are_whole() -> None:
    """Every row is one line with as many cells as its heading."""
    for page in (ROOT / "docs/reference").rglob("*.md"):
        columns = 0
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith("|"):
                cells = len(re.findall(r"(?<!\\)\|", line)) - 1
                columns = columns or cells
                assert (line[-1], cells) == ("|", columns), f"{page.name}:{number}"
            else:
                assert not columns or not line, f"{page.name}:{number}"
                columns = 0


def test_every_setting_is_documented() -> None:
    """The reference page has a row with the name and the environment variable of each setting."""
    page = (ROOT / "docs/reference/settings.md").read_text()
    for setting in describe():
        assert f"`{setting.name}` | `{setting.variable}`" in page


def test_the_reference_is_fresh() -> None:
    """The generated reference pages are up to date, so that `make docs` changes nothing."""
    assert reference.stale() == []


def test_links_lead_somewhere() -> None:
    """All links within the project lead to files and headings that exist."""
    assert links.dead_links(ROOT) == []


def test_modules_that_the_documentation_names_exist() -> None:
    """Each source path in the glossary and in the architecture document exists."""
    pattern = re.compile(r"`((?:backup|hosting|web|cli|server)/[\w/]*(?:\.\w+)?)`")
    for page in ("docs/glossary.md", "docs/architecture.md"):
        named = pattern.findall((ROOT / page).read_text())
        assert len(named) > 10, page
        for module in named:
            assert (ROOT / "src/holdfast" / module).exists(), f"{page} names {module}"


def test_the_readme_names_the_two_commands() -> None:
    """The README has `make serve` and `make test`, and each make target it mentions exists."""
    readme = (ROOT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"serve", "test", "bench", "lint", "format", "docs-check", "clean"} <= targets
    assert "make serve" in readme
    assert "make test" in readme
    for target in re.findall(r"`make ([a-z-]+)", readme + (ROOT / "CONTRIBUTING.md").read_text()):
        assert target in targets


def test_every_decision_is_dated() -> None:
    """Each decision record has a date."""
    decisions = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    assert decisions
    for decision in decisions:
        assert re.search(r"^Date: \d{4}-\d\d-\d\d$", decision.read_text(), re.MULTILINE), decision.name
