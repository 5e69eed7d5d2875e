"""Former names of branches in the database."""

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
    """Only the old name of a renamed branch is a former name, and only in its repository."""
    rename(database, repository, "master", "main")
    former = FormerBranches(database, repository)
    assert "master" in former
    assert "main" not in former
    assert "mast" not in former
    assert "master" not in FormerBranches(database, make_repository(database, ada, "other"))


def test_a_reused_name_is_not_a_former_name(database: Database, repository: Repository) -> None:
    """After a branch is renamed and renamed back, only the other name is a former name."""
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
    """The query is not repeated for a second name, so a rename is seen by the next request only."""
    former = FormerBranches(database, repository)
    assert "a" not in former
    rename(database, repository, "a", "b")
    assert "a" not in former
    assert "a" in FormerBranches(database, repository)
