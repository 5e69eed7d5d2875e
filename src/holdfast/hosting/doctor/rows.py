"""Checks of the database: schema revision, integrity, counters, redirects and secrets."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Row, ScalarSelect, Select, delete, exists, func, or_, select, text, update

from holdfast.hosting.app import App
from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind
from holdfast.hosting.errors import DecryptionFailed, EncryptionError
from holdfast.hosting.store import migrate
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.issue_labels import COPIED
from holdfast.hosting.store.tables import (
    comments,
    hooks,
    issue_labels,
    issues,
    name_redirects,
    repositories,
    repository_redirects,
    two_factor,
    users,
)

__all__ = [
    "check_counters",
    "check_integrity",
    "check_redirects",
    "check_schema",
    "check_secrets",
]

FULL_NAME: Final = users.c.name + "/" + repositories.c.name


def check_schema(app: App) -> Iterator[DoctorFinding]:
    """Check the schema revision."""
    at, expected = migrate.revision(app.database), migrate.latest()
    if at is not None and not migrate.knows(at):
        problem = f"is at revision {at}, which a newer Holdfast wrote; this one has {expected}"
        yield DoctorFinding(FindingKind.DATABASE_NEWER, app.database.name, problem)
    elif at != expected:
        yield DoctorFinding(
            FindingKind.MIGRATIONS,
            app.database.name,
            f"at revision {at or 'none'}, this version expects {expected}",
            lambda: migrate.upgrade(app.database),
        )


def check_integrity(app: App, *, deep: bool) -> Iterator[DoctorFinding]:
    """Check SQLite's file and foreign keys; PostgreSQL guarantees both."""
    if not app.database.is_sqlite:
        return
    with app.database.read() as connection:
        check = "integrity_check" if deep else "quick_check"
        for (problem,) in connection.execute(text(f"PRAGMA {check}(20)")):
            if problem != "ok":
                yield DoctorFinding(FindingKind.DATABASE_DAMAGED, app.database.name, str(problem))
        for table, number, parent, _ in connection.execute(text("PRAGMA foreign_key_check")):
            yield DoctorFinding(
                FindingKind.ROW_WITHOUT_PARENT,
                f"{table} row {number}",
                f"refers to a missing row of {parent}",
            )


def rows_of(app: App, statement: Select[*tuple[Any, ...]]) -> list[Row[*tuple[Any, ...]]]:
    """Run a query."""
    with app.database.read() as connection:
        return list(connection.execute(statement).all())


def set_repository(app: App, number: int, **columns: int | bool | str | ScalarSelect[int]) -> None:
    """Update derived columns of a repository."""
    with app.database.write() as connection:
        connection.execute(update(repositories).where(repositories.c.id == number).values(**columns))


def check_counters(app: App) -> Iterator[DoctorFinding]:
    """Recount issues and comments."""
    all_ones = select(func.count()).where(issues.c.repository_id == repositories.c.id).correlate(repositories)
    counted = {
        f"{state}_{kind}": all_ones.where(is_state, is_kind).scalar_subquery()
        for state, is_state in (("open", ~issues.c.is_closed), ("closed", issues.c.is_closed))
        for kind, is_kind in (("issues", ~issues.c.is_pull), ("pulls", issues.c.is_pull))
    }
    last = (
        select(func.coalesce(func.max(issues.c.number), 0))
        .where(issues.c.repository_id == repositories.c.id)
        .correlate(repositories)
        .scalar_subquery()
    )
    joined = select(
        repositories.c.id,
        FULL_NAME.label("full_name"),
        *(repositories.c[name] for name in counted),
        *(number.label(f"counted_{name}") for name, number in counted.items()),
        repositories.c.last_issue,
        last.label("last"),
    ).join_from(repositories, users, users.c.id == repositories.c.owner_id)
    wrong = joined.where(
        or_(*(repositories.c[name] != number for name, number in counted.items()))
        | (repositories.c.last_issue < last)
    )
    for row in rows_of(app, wrong):

        def recount(number: int = row.id) -> None:
            set_repository(app, number, **counted)

        def renumber(number: int = row.id) -> None:
            set_repository(app, number, last_issue=last)

        recorded, has = ([getattr(row, prefix + name) for name in counted] for prefix in ("", "counted_"))
        if recorded[:2] != has[:2]:
            counts = f"says {recorded[0]} open issues and {recorded[1]} open pull requests"
            problem = f"{counts}, has {has[0]} and {has[1]}"
            yield DoctorFinding(FindingKind.ISSUE_COUNT, row.full_name, problem, recount)
        elif recorded != has:
            counts = f"says {recorded[2]} closed issues and {recorded[3]} closed pull requests"
            problem = f"{counts}, has {has[2]} and {has[3]}"
            yield DoctorFinding(FindingKind.ISSUE_COUNT, row.full_name, problem, recount)
        if row.last_issue < row.last:
            problem = f"would number the next issue {row.last_issue + 1}, but has a number {row.last}"
            yield DoctorFinding(FindingKind.ISSUE_NUMBER, row.full_name, problem, renumber)
    yield from check_comment_counts(app)
    yield from check_label_rows(app)


def check_comment_counts(app: App) -> Iterator[DoctorFinding]:
    """Recount the comments of every issue."""
    counted = (
        select(func.count())
        .where(comments.c.issue_id == issues.c.id, comments.c.kind == "comment")
        .correlate(issues)
        .scalar_subquery()
    )
    astray = (comments.c.issue_id == issues.c.id) & (comments.c.kind == "comment")
    elsewhere = exists().where(astray, comments.c.repository_id != issues.c.repository_id)
    statement = (
        select(
            issues.c.id,
            issues.c.number,
            issues.c.repository_id,
            FULL_NAME.label("full_name"),
            issues.c.comment_count,
            counted.label("has"),
        )
        .join_from(issues, repositories, repositories.c.id == issues.c.repository_id)
        .join(users, users.c.id == repositories.c.owner_id)
        .where((issues.c.comment_count != counted) | elsewhere)
    )
    for row in rows_of(app, statement):

        def recount(number: int = row.id, place: int = row.repository_id) -> None:
            with app.database.write() as connection:
                connection.execute(update(issues).where(issues.c.id == number).values(comment_count=counted))
                conditions = (comments.c.issue_id == number, comments.c.kind == "comment")
                connection.execute(update(comments).where(*conditions).values(repository_id=place))

        problem = f"says {row.comment_count} comments, has {row.has}"
        if row.comment_count == row.has:
            problem = "has comments that are listed in another repository"
        yield DoctorFinding(FindingKind.COMMENT_COUNT, f"{row.full_name}#{row.number}", problem, recount)


def check_label_rows(app: App) -> Iterator[DoctorFinding]:
    """Compare what the rows of labels on issues have of their issues."""
    differs = or_(*(issue_labels.c[name] != issues.c[name] for name in COPIED))
    wrong = (
        select(issues.c.id, issues.c.number, FULL_NAME.label("full_name"))
        .join_from(issue_labels, issues, issues.c.id == issue_labels.c.issue_id)
        .join(repositories, repositories.c.id == issues.c.repository_id)
        .join(users, users.c.id == repositories.c.owner_id)
        .where(differs)
        .distinct()
    )
    for row in rows_of(app, wrong):

        def copy_again(number: int = row.id) -> None:
            current = {name: select(issues.c[name]).where(issues.c.id == number) for name in COPIED}
            values = {name: statement.scalar_subquery() for name, statement in current.items()}
            with app.database.write() as connection:
                connection.execute(update(issue_labels).where(issue_labels.c.issue_id == number).values(**values))

        problem = "is listed by its labels in another state or repository"
        yield DoctorFinding(FindingKind.LABEL_ROWS, f"{row.full_name}#{row.number}", problem, copy_again)


def check_redirects(app: App) -> Iterator[DoctorFinding]:
    """Find redirects from names that are in use again."""
    taken = select(name_redirects.c.folded_name).join(users, users.c.folded_name == name_redirects.c.folded_name)
    for row in rows_of(app, taken):

        def forget(name: str = row.folded_name) -> None:
            with app.database.write() as connection:
                connection.execute(delete(name_redirects).where(name_redirects.c.folded_name == name))

        yield DoctorFinding(
            FindingKind.REDIRECT,
            row.folded_name,
            "is the former name of one account and the name of another",
            forget,
        )
    former = repository_redirects
    hidden = (
        select(former.c.owner_id, former.c.folded_name, users.c.name)
        .join(
            repositories,
            (repositories.c.owner_id == former.c.owner_id) & (repositories.c.folded_name == former.c.folded_name),
        )
        .join(users, users.c.id == former.c.owner_id)
    )
    for row in rows_of(app, hidden):

        def drop(owner: int = row.owner_id, name: str = row.folded_name) -> None:
            with app.database.write() as connection:
                connection.execute(delete(former).where(former.c.owner_id == owner, former.c.folded_name == name))

        problem = "is the former name of one repository and the name of another"
        yield DoctorFinding(FindingKind.REDIRECT, f"{row.name}/{row.folded_name}", problem, drop)


def check_secrets(app: App) -> Iterator[DoctorFinding]:
    """Decrypt every secret of webhooks and second factors; without any key, report that once."""
    statement = select(hooks.c.id, hooks.c.secret, hooks.c.authorization).where(
        or_(hooks.c.secret != "", hooks.c.authorization != "")
    )
    of_users = select(users.c.name, two_factor.c.secret).join(two_factor, two_factor.c.user_id == users.c.id)
    with app.database.read() as connection:
        rows = connection.execute(statement.order_by(hooks.c.id)).all()
        factors = connection.execute(of_users.order_by(users.c.id)).all()
    secrets = [(f"webhook {row.id}", row.secret, row.authorization) for row in rows]
    secrets += [(f"second factor of {row.name}", row.secret, "") for row in factors]
    for name, *sealed in secrets:
        try:
            for text in sealed:
                app.cipher.decrypt(text)
        except DecryptionFailed as error:
            yield DoctorFinding(FindingKind.SEAL, name, str(error))
        except EncryptionError as error:
            yield DoctorFinding(FindingKind.KEY, str(app.settings.data / KEY_FILE), str(error))
            return
