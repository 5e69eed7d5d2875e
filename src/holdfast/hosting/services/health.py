"""Health checks: database, schema revision, data folder, and the webhook backlog."""

import os
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError

from holdfast.hosting.app import App
from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.metrics import Gauge
from holdfast.hosting.storage import instance
from holdfast.hosting.store import migrate, outbox

__all__ = ["gauges", "problems"]

log = structlog.get_logger(__name__)


@lru_cache(maxsize=1)
def expected_revision() -> str:
    """Return the expected schema revision; cached, as it reads all migrations."""
    return migrate.latest()


def problems(app: App) -> dict[str, str]:
    """Return the problems by part (`database`, `migrations`, `data`); empty if healthy."""
    problems_by_part = {}
    try:
        revision = migrate.revision(app.database)
    except (SQLAlchemyError, DatabaseError):
        problems_by_part["database"] = "does not answer"
    else:
        if revision != expected_revision():
            problems_by_part["migrations"] = (
                f"at {revision or 'nothing'}, but this version expects {expected_revision()}"
            )
    problem = folder_problem(app.settings.data)
    if not problem and not problems_by_part:
        problem = instance_problem(app)
    if problem:
        problems_by_part["data"] = problem
    return problems_by_part


def instance_problem(app: App) -> str:
    """Return an error message if the data folder does not belong to the database; empty if it does."""
    try:
        return "does not belong to the database; the log says more" if logged_mismatch(app) else ""
    except (SQLAlchemyError, DatabaseError):
        return ""  # reported as a problem of the database by the next check


def logged_mismatch(app: App) -> bool:
    """Return whether the data folder does not belong to the database, and log the reason with its paths."""
    reason = instance.mismatch(app.database, app.settings)
    if reason:
        log.error("data folder mismatched", reason=reason)
    return bool(reason)


def gauges(app: App) -> tuple[Gauge, ...]:
    """Return gauges of the webhook backlog: its length, and the age of the oldest delivery."""
    queue = outbox.queue_size(app.database)
    waited = max(time.time() - queue.oldest, 0.0) if queue.length else 0.0
    return (
        Gauge("holdfast_deliveries_waiting", "Pending webhook deliveries", queue.length),
        Gauge("holdfast_deliveries_oldest_seconds", "Age of the oldest pending webhook delivery", waited),
    )


def folder_problem(folder: Path) -> str:
    """Return why a folder is not writable; empty if it is."""
    try:
        descriptor, path = tempfile.mkstemp(prefix=".ready-", dir=folder)
        os.close(descriptor)
        Path(path).unlink()
    except OSError as error:
        return f"cannot be written to: {error.strerror}"
    return ""
