"""The menu of branches and tags."""

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.settings import Settings
from holdfast.web.code.location import CodeLocation, find_location
from holdfast.web.code.switcher import SHOWN, switcher


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open everything the service has, on a database that is ready."""
    del database
    opened = App.open(settings)
    yield opened
    opened.close()


def add_refs(app: App, repository: Repository, *names: str) -> None:
    """Add refs to the first commit."""
    with app.database.write() as connection:
        head = repository_log.read_refs(connection, repository.id)["refs/heads/main"]
        repository_log.set_refs(connection, repository.id, dict.fromkeys(names, head))


@pytest.fixture
def ship(app: App) -> Repository:
    """Create a repository with branches and tags, one of which has a name that is not UTF-8."""
    admin = accounts.find_user(app.database, "admin")
    repository = repositories.create(app, admin, admin, NewRepository(name="ship"), {"a b/c.txt": b"c"})
    add_refs(app, repository, "refs/heads/fix/1", "refs/heads/caf\udce9", "refs/tags/v1")
    return repository


def spot_of(app: App, ship: Repository) -> CodeLocation:
    """Return the location of a file on the default branch."""
    code_location = find_location(app.copies.open(ship), "/ada/ship", "branch", "main/a b/c.txt")
    assert code_location is not None
    return code_location


def test_the_default_branch_comes_first_and_the_current_one_is_marked(app: App, ship: Repository) -> None:
    """The other branches are sorted by name."""
    found_switcher = switcher(app, ship, replace(spot_of(app, ship), ref="fix/1"))
    assert [(branch.name, branch.is_current) for branch in found_switcher.branches] == [
        ("main", False),
        ("caf\ufffd", False),
        ("fix/1", True),
    ]
    assert [(tag.name, tag.is_current) for tag in found_switcher.tags] == [("v1", False)]
    assert (found_switcher.branch_count, found_switcher.tag_count) == (3, 1)


def test_a_choice_leads_to_the_same_path_and_page(app: App, ship: Repository) -> None:
    """A branch whose name is not valid UTF-8 is linked by its commit."""
    spot = spot_of(app, ship)
    found_switcher = switcher(app, ship, spot, "blame")
    addresses = {item.name: item.address for item in (*found_switcher.branches, *found_switcher.tags)}
    assert addresses == {
        "main": "/ada/ship/blame/branch/main/a%20b/c.txt",
        "fix/1": "/ada/ship/blame/branch/fix/1/a%20b/c.txt",
        "caf\ufffd": f"/ada/ship/blame/commit/{spot.commit}/a%20b/c.txt",
        "v1": "/ada/ship/blame/tag/v1/a%20b/c.txt",
    }


def test_a_tag_with_the_name_of_the_current_branch_is_not_current(app: App, ship: Repository) -> None:
    """Only the branch of two refs with the same name is marked."""
    add_refs(app, ship, "refs/tags/main")
    found_switcher = switcher(app, ship, spot_of(app, ship))
    assert [branch.is_current for branch in found_switcher.branches] == [True, False, False]
    assert not any(tag.is_current for tag in found_switcher.tags)


def test_of_very_many_branches_some_are_shown_and_all_are_counted(app: App, ship: Repository) -> None:
    """The default branch is listed first, although its name is beyond the limit."""
    add_refs(app, ship, *(f"refs/heads/b{number:03}" for number in range(SHOWN + 10)))
    found_switcher = switcher(app, ship, spot_of(app, ship))
    assert found_switcher.branch_count == SHOWN + 13
    assert found_switcher.branches[0].name == "main"
    assert len(found_switcher.branches) == SHOWN + 1


def test_without_its_default_branch_a_repository_has_a_menu(app: App, ship: Repository) -> None:
    """The menu lists the other branches when the default branch does not exist."""
    found_switcher = switcher(app, msgspec.structs.replace(ship, default_branch="gone"), spot_of(app, ship))
    assert [branch.name for branch in found_switcher.branches] == ["caf\ufffd", "fix/1", "main"]
