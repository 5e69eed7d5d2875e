"""Runs all consistency checks."""

from collections.abc import Callable, Iterator

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk, repositories, rows
from holdfast.hosting.doctor.findings import DoctorFinding

__all__ = ["examine", "repair"]


def examine(
    app: App,
    *,
    deep: bool = False,
    now: float | None = None,
    passed: Callable[[int], object] = lambda number: number,
) -> Iterator[DoctorFinding]:
    """Yield all findings; with an unexpected schema revision, only that one.

    With `deep` every object of every repository is read. `passed` is called after each repository.
    """
    wrong = list(rows.check_schema(app))
    yield from wrong
    if wrong:
        return
    yield from rows.check_integrity(app, deep=deep)
    yield from disk.check_permissions(app)
    yield from disk.check_identity(app)
    yield from rows.check_counters(app)
    yield from rows.check_redirects(app)
    yield from rows.check_secrets(app)
    yield from repositories.check_copies(app)
    for item in repositories.list_records(app):
        yield from repositories.check_repository(app, item, deep=deep)
        passed(item.id)
    yield from disk.check_lfs_objects(app, now=now)
    yield from disk.check_attachments(app, now=now)
    yield from disk.check_chat_backups(app, now=now)


def repair(finding: DoctorFinding) -> bool:
    """Repair a finding; return False if it has no safe repair."""
    if finding.repair is None:
        return False
    finding.repair()
    return True
