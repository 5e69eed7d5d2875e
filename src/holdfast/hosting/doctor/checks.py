"""The whole examination."""

from collections.abc import Callable, Iterator

from holdfast.hosting.app import Host
from holdfast.hosting.doctor import disk, rows, secrets
from holdfast.hosting.doctor.finding import Finding

__all__ = ["examine", "repair"]


def examine(
    host: Host,
    *,
    deep: bool = False,
    now: float | None = None,
    passed: Callable[[int], object] = lambda number: number,
) -> Iterator[Finding]:
    """Go through everything that is wrong; a database of another shape is all that is looked at then.

    With `deep` every object of every repository is read. `passed` is told of each repository that was looked at.
    """
    wrong = list(rows.shape(host))
    yield from wrong
    if wrong:
        return
    yield from rows.integrity(host, deep=deep)
    yield from disk.permissions(host)
    yield from disk.identity(host)
    # First, because settling these may change what the others look at.
    yield from rows.pending(host, now=now)
    yield from rows.counters(host)
    yield from rows.redirects(host)
    yield from secrets.sealed(host)
    kept, found = disk.rows_and_folders(host, now=now)
    yield from found
    for item in kept:
        yield from disk.repository(host, item, deep=deep)
        passed(item.id)
    yield from disk.large_files(host, now=now)


def repair(finding: Finding) -> bool:
    """Repair a finding; return false when only a person can."""
    if finding.repair is None:
        return False
    finding.repair()
    return True
