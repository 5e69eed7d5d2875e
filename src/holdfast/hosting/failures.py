"""Translation of request failures to responses: database or disk unavailable, repository deleted, or a bug."""

import structlog

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.errors import (
    GitDamaged,
    HostingError,
    NoSuchFolder,
    NoSuchRepository,
    StorageUnavailable,
)
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.threads import run_in_thread
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.storage import instance
from holdfast.hosting.store import faults, repositories
from holdfast.hosting.store.repositories import Repository

__all__ = ["error_response", "explain_request"]

log = structlog.get_logger(__name__)


async def error_response(app: App, error: Exception, repository: Repository | None = None) -> ApiError | None:
    """Return the error response of a failed request; None if the error is a bug.

    Reading a repository that is deleted concurrently can raise any error, so the repository is looked up again.
    """
    refusal = refusal_for(error)
    if refusal is None or isinstance(error, NoSuchFolder | GitDamaged):
        try:
            if repository is not None and isinstance(error, GitDamaged):
                await run_in_thread(app.copies.discard_damaged, repository.id)
            refusal = await run_in_thread(check_still_exists, app, repository) or refusal
        except Exception as trouble:  # noqa: BLE001  # of the two errors, the first is the one to explain
            error = trouble
            refusal = refusal_for(trouble) or refusal
    if refusal is not None:
        log_fault(error, refusal.status)
    return refusal


async def explain_request(error: Exception, request: RequestContext) -> ApiError | None:
    """Return the error response of a failed request, with the repository its guard resolved."""
    target = request.resolved_values.get(RepositoryAccess)
    return await error_response(
        request.app, error, target.repository if isinstance(target, RepositoryAccess) else None
    )


def check_still_exists(app: App, repository: Repository | None) -> ApiError | None:
    """Return the error of a deleted repository, or None; raise `StorageUnavailable` if the data folder is gone."""
    if not app.settings.data.is_dir() or instance.mismatch(app.database, app.settings):
        raise StorageUnavailable(faults.NO_FOLDER)
    if repository is None:
        return None
    try:
        repositories.repository_by_id(app.database, repository.id)
    except NoSuchRepository:
        log.info("repository deleted during request", repository=repository.id)
        return ApiError(404, f"repository {repository.full_name} was deleted in the meantime")
    return None


def log_fault(error: Exception, status: int) -> None:
    """Log a server error; client errors are not logged."""
    if status >= 500:
        fault = faults.translate(error) or error
        cause = type(cause_of(error)).__name__
        log.warning("request failed", status=status, fault=type(fault).__name__, error=cause)


def cause_of(error: BaseException) -> BaseException:
    """Return the root cause of an error, following causes of `HostingError` only."""
    while isinstance(error, HostingError) and error.__cause__ is not None:
        error = error.__cause__
    return error
