"""Every page of the website."""

from types import ModuleType
from typing import Final

from holdfast.hosting.http.endpoints import Endpoint
from holdfast.web import explore, home, search
from holdfast.web.admin import service, users
from holdfast.web.chats import bridge, shelf_pages
from holdfast.web.code import (
    blame_page,
    commit_page,
    compare_page,
    delete_page,
    edit_page,
    history_page,
    raw_files,
    refs_page,
    source,
    upload_page,
)
from holdfast.web.issues import (
    commenting,
    dependency_list,
    editing,
    graph,
    labels,
    linking,
    listing,
    milestones,
    opening,
    showing,
    yours,
)
from holdfast.web.people import making, owner
from holdfast.web.settings import (
    account,
    browsers,
    collaborating,
    dangers,
    delivery_pages,
    general,
    hook_pages,
    organization,
    protecting,
    teaming,
    tokens,
)

__all__ = ["endpoints"]

MODULES: Final[tuple[ModuleType, ...]] = (
    *(home, explore, search),
    *(raw_files, source, history_page, commit_page, blame_page, compare_page, refs_page),
    *(edit_page, upload_page, delete_page),
    *(listing, yours, showing, opening, editing, commenting, linking, graph, dependency_list, labels, milestones),
    *(owner, making, general, collaborating, protecting, dangers, organization, teaming),
    *(account, tokens, browsers, hook_pages, delivery_pages),
    *(users, service),
    *(shelf_pages, bridge),
)


def endpoints() -> list[Endpoint]:
    """List what every module declares by name, and what it makes several of under `MADE`.

    An endpoint of the API that a page acts through is no page.
    """
    named = [
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, Endpoint) and value.run.__module__ == module.__name__
    ]
    return [*named, *(page for module in MODULES for page in getattr(module, "MADE", ()))]
