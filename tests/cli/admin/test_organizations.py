"""`holdfast admin org`."""

import json

from holdfast.settings import Settings
from tests.cli.conftest import Run


def test_an_organization_is_made_listed_and_removed(run: Run, ada: Settings) -> None:
    """An organization is created with its first owner, listed, and deleted in any spelling of case."""
    result = run("admin", "org", "create", "acme", "--owner", "ada", "--visibility", "private")
    assert result.out == "Organization acme created. Its owner is ada.\n"
    (listed,) = json.loads(run("admin", "org", "list", "--json").out)
    assert (listed["name"], listed["visibility"]) == ("acme", "private")
    assert "acme" in run("admin", "org", "list").out
    assert run("admin", "org", "delete", "ACME").out == "Organization acme deleted.\n"
    assert json.loads(run("admin", "org", "list", "--json").out) == []


def test_what_cannot_be_is_refused_in_one_line(run: Run, ada: Settings) -> None:
    """Taken names, missing owners and organizations that own repositories are errors in one line."""
    run("admin", "org", "create", "acme", "--owner", "ada")
    run("admin", "repo", "create", "acme/one")
    for arguments in (
        ("create", "acme", "--owner", "ada"),
        ("create", "other", "--owner", "nobody"),
        ("delete", "acme"),
        ("delete", "ada"),
        ("delete", "nobody"),
    ):
        result = run("admin", "org", *arguments)
        assert (result.status, result.err.count("\n")) == (1, 1), arguments
