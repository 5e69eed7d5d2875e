"""Whether the service can do its work: the database, its shape, the data folder, and what waits to be sent."""

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
def expected() -> str:
    """Return the revision this version expects; looking for it reads every migration."""
    return migrate.latest()


def problems(app: App) -> dict[str, str]:
    """Return what is wrong, by part: `database`, `migrations`, `data`; nothing when all is well."""
    found = {}
    try:
        revision = migrate.revision(app.database)
    except (SQLAlchemyError, DatabaseError):
        found["database"] = "does not answer"
    else:
        if revision != expected():
            found["migrations"] = f"at {revision or 'nothing'}, but this version expects {expected()}"
    problem = folder_problem(app.settings.data)
    if not problem and not found:
        problem = instance_problem(app)
    if problem:
        found["data"] = problem
    return found


def instance_problem(app: App) -> str:
    """Say that the data folder is not the database's; an empty text when it is."""
    try:
        return "does not belong to the database; the log says more" if logged_mismatch(app) else ""
    except (SQLAlchemyError, DatabaseError):
        return ""  # told as a problem of the database the next time


def logged_mismatch(app: App) -> bool:
    """Tell whether the data folder is not the database's, and log why; the reason names paths."""
    reason = instance.mismatch(app.database, app.settings)
    if reason:
        log.error("the data folder does not belong to the database", reason=reason)
    return bool(reason)


def gauges(app: App) -> tuple[Gauge, ...]:
    """Look at what is to be watched: how much waits for the receivers of webhooks, and for how long already."""
    queue = outbox.queue(app.database)
    waited = max(time.time() - queue.oldest, 0.0) if queue.length else 0.0
    return (
        Gauge("holdfast_deliveries_waiting", "Deliveries to webhooks that wait", queue.length),
        Gauge("holdfast_deliveries_oldest_seconds", "For how long the oldest of them has waited", waited),
    )


def folder_problem(folder: Path) -> str:
    """Say why nothing can be written to a folder; an empty text when it can."""
    try:
        descriptor, path = tempfile.mkstemp(prefix=".ready-", dir=folder)
        os.close(descriptor)
        Path(path).unlink()
    except OSError as error:
        return f"cannot be written to: {error.strerror}"
    return ""
