"""Topics: the words people file a repository under."""

import re
from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import administers, in_repository, not_archived
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.repository_events import note_changes

__all__ = ["add_topic", "list_topics", "remove_topic", "set_topics"]

TOPIC: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,34}")
MOST: Final = 25
GUARDS: Final = (in_repository, administers, not_archived)
REFUSES: Final = (401, 403, 404, 422, 423)


class TopicName(msgspec.Struct, frozen=True):
    """The topics of a repository."""

    topics: list[str]


class RepoTopicOptions(msgspec.Struct, frozen=True):
    """The topics a repository is to have."""

    topics: list[str] = []


def kept(target: RepositoryAccess) -> list[str]:
    """Read the topics of a repository."""
    return msgspec.json.decode(target.repository.topics, type=list[str])


def keep(request: RequestContext, target: RepositoryAccess, topics: list[str]) -> None:
    """Write the topics of a repository, each once."""
    wanted = list(dict.fromkeys(topic.strip().lower() for topic in topics))
    bad = [topic for topic in wanted if not TOPIC.fullmatch(topic)]
    if bad:
        raise ApiError(422, "[Topics]: a topic is up to 35 lower-case letters, digits, dashes and dots")
    if len(wanted) > MOST:
        raise ApiError(422, f"[Topics]: a repository has at most {MOST} topics")
    with request.app.database.write() as connection:
        columns = {"topics": msgspec.json.encode(wanted).decode()}
        store.change_repository(connection, target.repository, **columns)
        note_changes(connection, target.repository, request.user, columns)


@endpoint("GET /repos/{owner}/{repo}/topics", scope="repository", guards=(in_repository,))
def list_topics(request: RequestContext, target: RepositoryAccess, page: PageParams) -> TopicName:
    """List the topics of a repository; all of them unless a page is asked for."""
    topics, page = kept(target), page_or_all(request, page)
    request.response_headers |= paging_headers(request, page, len(topics))
    return TopicName(topics[page.skip : page.skip + page.size])


@endpoint("PUT /repos/{owner}/{repo}/topics", scope="repository", guards=GUARDS, refuses=REFUSES)
def set_topics(request: RequestContext, target: RepositoryAccess, body: RepoTopicOptions) -> None:
    """Replace the topics of a repository."""
    keep(request, target, body.topics)


@endpoint("PUT /repos/{owner}/{repo}/topics/{topic}", scope="repository", guards=GUARDS, refuses=REFUSES)
def add_topic(request: RequestContext, target: RepositoryAccess, topic: str) -> None:
    """Add a topic to a repository."""
    keep(request, target, [*kept(target), topic])


@endpoint("DELETE /repos/{owner}/{repo}/topics/{topic}", scope="repository", guards=GUARDS, refuses=REFUSES)
def remove_topic(request: RequestContext, target: RepositoryAccess, topic: str) -> None:
    """Take a topic from a repository."""
    topics = kept(target)
    if topic.lower() not in topics:
        raise ApiError(404)
    keep(request, target, [other for other in topics if other != topic.lower()])
