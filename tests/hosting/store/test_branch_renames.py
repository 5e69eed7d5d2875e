"""Former names of branches."""

from sqlalchemy import func, select

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.branch_renames import FormerBranches, add_branch_rename
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import branch_renames
from tests.hosting.repository_helpers import make_repository


def rename(database: Database, repository: Repository, old: str, new: str) -> None:
    """Record that a branch was renamed."""
    with database.write() as connection:
        add_branch_rename(connection, repository, old, new)


def test_a_former_name_is_known_in_its_repository(
    database: Database, repository: Repository, ada: Account
) -> None:
    """Not the new name, nor another one, and not in another repository."""
    rename(database, repository, "master", "main")
    former = FormerBranches(database, repository)
    assert "master" in former
    assert "main" not in former
    assert "mast" not in former
    assert "master" not in FormerBranches(database, make_repository(database, ada, "other"))


def test_a_reused_name_is_not_a_former_name(database: Database, repository: Repository) -> None:
    """There and back again leaves the other name, once."""
    rename(database, repository, "a", "b")
    rename(database, repository, "b", "a")
    former = FormerBranches(database, repository)
    assert ("a" in former, "b" in former) == (False, True)
    rename(database, repository, "b", "c")
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(branch_renames)).scalar_one() == 1


def test_without_renamed_branches_one_query_answers_for_all_names(
    database: Database, repository: Repository
) -> None:
    """It is not repeated while a request is served: what is renamed meanwhile is for the next request."""
    former = FormerBranches(database, repository)
    assert "a" not in former
    rename(database, repository, "a", "b")
    assert "a" not in former
    assert "a" in FormerBranches(database, repository)
