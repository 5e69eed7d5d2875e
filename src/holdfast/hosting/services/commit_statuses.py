"""Commit statuses: the results that checks report for a commit."""

import time
from typing import Final
from urllib.parse import urlsplit

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, TooManyAtOnce
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.services import pull_merges
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.revisions import open_git, resolve_commit
from holdfast.hosting.store import commit_statuses, events
from holdfast.hosting.store.commit_statuses import MOST_PER_COMMIT, STATES, CommitStatus

__all__ = ["NewStatus", "create"]

DEFAULT_CONTEXT: Final = "default"
CONTEXT_LENGTH: Final = 255
DESCRIPTION_LENGTH: Final = 4096
URL_LENGTH: Final = 2048


class NewStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A status to create; the context is `default` unless given."""

    state: str
    context: str = ""
    description: str = ""
    target_url: str = ""


def create(app: App, actor: Actor, target: RepositoryAccess, revision: str, new: NewStatus) -> CommitStatus:
    """Create a status of a commit, given as a branch, tag or id, and record the `status` event."""
    access.require_read(target, Unit.CODE)
    access.require_unarchived(target)
    user = access.require_login(actor)
    access.require_write(target, Unit.CODE)
    if new.state not in STATES:
        raise InvalidValue("State", f"must be one of {', '.join(STATES)}")
    context = new.context.strip() or DEFAULT_CONTEXT
    check_length(context, "Context", CONTEXT_LENGTH)
    check_length(new.description, "Description", DESCRIPTION_LENGTH)
    check_target_url(new.target_url)
    repository, repo = target.repository, open_git(app, target)
    commit = read_commit(repo, resolve_commit(repo, target, revision))
    now = int(time.time())
    with app.database.quick_write() as link:
        if commit_statuses.count_of_commit(link, repository, commit.id) >= MOST_PER_COMMIT:
            raise TooManyAtOnce(f"a commit has at most {MOST_PER_COMMIT} statuses")
        status = commit_statuses.add_status(
            link,
            repository,
            user,
            commit.id,
            context=context,
            state=new.state,
            description=new.description,
            target_url=new.target_url,
            now=now,
        )
        events.record(
            link,
            "status",
            owner_id=repository.owner.id,
            repository_id=repository.id,
            actor_id=user.id,
            details={"status": msgspec.to_builtins(status)},
            now=now,
            preloaded=commit,
        )
    pull_merges.try_scheduled(app, repository.id, commit.id)
    return status


def check_target_url(url: str) -> None:
    """Raise an error for a URL that a page must not link to."""
    check_length(url, "TargetURL", URL_LENGTH)
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        scheme = "invalid"
    if url and scheme not in {"http", "https"}:
        raise InvalidValue("TargetURL", "must begin with http:// or https://")
