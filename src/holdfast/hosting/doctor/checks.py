"""Runs all consistency checks."""

from collections.abc import Callable, Iterator

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk, rows
from holdfast.hosting.doctor.findings import Finding

__all__ = ["examine", "repair"]


def examine(
    app: App,
    *,
    deep: bool = False,
    now: float | None = None,
    passed: Callable[[int], object] = lambda number: number,
) -> Iterator[Finding]:
    """Yield all findings; with an unexpected schema revision, only that.

    With `deep` every object of every repository is read. `passed` is called after each repository.
    """
    wrong = list(rows.check_schema(app))
    yield from wrong
    if wrong:
        return
    yield from rows.check_integrity(app, deep=deep)
    yield from disk.check_permissions(app)
    yield from disk.check_identity(app)
    # First, because settling these may change the results of the others.
    yield from rows.check_pending_updates(app, now=now)
    yield from rows.check_counters(app)
    yield from rows.check_redirects(app)
    yield from rows.check_secrets(app)
    records, found = disk.match_rows_and_folders(app, now=now)
    yield from found
    for item in records:
        yield from disk.check_repository(app, item, deep=deep)
        passed(item.id)
    yield from disk.check_lfs_objects(app, now=now)


def repair(finding: Finding) -> bool:
    """Repair a finding; return False if it has no safe repair."""
    if finding.repair is None:
        return False
    finding.repair()
    return True
