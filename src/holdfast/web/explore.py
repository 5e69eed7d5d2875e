"""The list of all repositories the viewer may see."""

from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams, page_of
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.repository_search import has_topic, named_like
from holdfast.hosting.store.repositories import belongs_to
from holdfast.web.pages import page
from holdfast.web.repository_list import list_lines

__all__ = ["show_explore"]

PER_PAGE: Final = 30
LONGEST: Final = 200


class ExploreQuery(msgspec.Struct, frozen=True):
    """The search text, a topic, and whether to list only the user's repositories."""

    q: str = ""
    mine: str = ""
    topic: str = ""


@endpoint("GET /-/explore", scope="repository", slow=True)
def show_explore(request: RequestContext, query: ExploreQuery) -> RawResponse:
    """List repositories, latest first."""
    params = page_of(request)
    page_params = PageParams(params.number, PER_PAGE)
    text = query.q.strip()[:LONGEST]
    matches = [named_like(request.app, text)] if text else []
    topic = query.topic.strip().lower()[:LONGEST]
    if topic:
        matches.append(has_topic(request.app, topic))
    user = request.actor.user
    only_mine = bool(query.mine) and user is not None
    conditions = [belongs_to(user)] if user is not None and only_mine else []
    repository_lines, total = list_lines(
        request, conditions, matches=matches, skip=page_params.skip, limit=PER_PAGE
    )
    parameters = {"q": text} if text else {}
    if topic:
        parameters["topic"] = topic
    if only_mine:
        parameters["mine"] = "1"
    return page(
        request,
        "explore.html",
        title="Your repositories" if only_mine else f"Topic: {topic}" if topic else "Explore",
        found=repository_lines,
        total=total,
        number=page_params.number,
        size=PER_PAGE,
        q=text,
        topic=topic,
        only_mine=only_mine,
        list_at=f"/-/explore?{urlencode({**parameters, 'page': ''})}",
    )
