"""Former branch names, so that a request for one gets 404 instead of another branch."""

import time

from sqlalchemy import Connection, bindparam, delete, insert, select

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import branch_renames

__all__ = ["FormerBranches", "add_branch_rename"]

FORMER = Statement(
    select(branch_renames.c.new_name).where(
        branch_renames.c.repository_id == bindparam("repository_id"),
        branch_renames.c.old_name == bindparam("name"),
    )
)


ANY = Statement(
    select(branch_renames.c.repository_id)
    .where(branch_renames.c.repository_id == bindparam("repository_id"))
    .limit(1)
)


class FormerBranches:
    """The former names of a repository's branches; queried only for a name that no branch has.

    In a repository without renamed branches a single query answers for all names.
    """

    def __init__(self, database: Database, repository: Repository) -> None:
        self._database = database
        self._repository = repository
        self._has_any: bool | None = None

    def __contains__(self, name: object) -> bool:
        """Return whether a branch once had this name."""
        number = self._repository.id
        if self._has_any is None:
            self._has_any = self._database.row(ANY, repository_id=number) is not None
        return self._has_any and self._database.row(FORMER, repository_id=number, name=str(name)) is not None


def add_branch_rename(connection: Connection, repository: Repository, old: str, new: str) -> None:
    """Record the former name of a renamed branch."""
    of_repository = branch_renames.c.repository_id == repository.id
    connection.execute(delete(branch_renames).where(of_repository, branch_renames.c.old_name.in_((old, new))))
    row = {"repository_id": repository.id, "old_name": old, "new_name": new, "created_at": int(time.time())}
    connection.execute(insert(branch_renames), row)
