"""Topics of a repository."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import administers, in_repository, not_archived
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import repositories

__all__ = ["add_topic", "list_topics", "remove_topic", "set_topics"]

GUARDS: Final = (in_repository, administers, not_archived)
REFUSES: Final = (401, 403, 404, 422, 423)


class TopicName(msgspec.Struct, frozen=True):
    """The topics of a repository."""

    topics: list[str]


class RepoTopicOptions(msgspec.Struct, frozen=True):
    """The new topics of a repository."""

    topics: list[str] = []


@endpoint("GET /repos/{owner}/{repo}/topics", scope="repository", guards=(in_repository,))
def list_topics(request: RequestContext, target: RepositoryAccess, page: PageParams) -> TopicName:
    """List the topics of a repository; not paged by default."""
    topics, page = repositories.topics_of(target.repository), page_or_all(request, page)
    request.response_headers |= paging_headers(request, page, len(topics))
    return TopicName(topics[page.skip : page.skip + page.size])


@endpoint("PUT /repos/{owner}/{repo}/topics", scope="repository", guards=GUARDS, refuses=REFUSES)
def set_topics(request: RequestContext, target: RepositoryAccess, body: RepoTopicOptions) -> None:
    """Replace the topics of a repository."""
    repositories.set_topics(request.app, request.actor, target, body.topics)


@endpoint("PUT /repos/{owner}/{repo}/topics/{topic}", scope="repository", guards=GUARDS, refuses=REFUSES)
def add_topic(request: RequestContext, target: RepositoryAccess, topic: str) -> None:
    """Add a topic to a repository."""
    repositories.add_topic(request.app, request.actor, target, topic)


@endpoint("DELETE /repos/{owner}/{repo}/topics/{topic}", scope="repository", guards=GUARDS, refuses=REFUSES)
def remove_topic(request: RequestContext, target: RepositoryAccess, topic: str) -> None:
    """Remove a topic from a repository."""
    repositories.remove_topic(request.app, request.actor, target, topic)
