"""Removes links from references to issues, people and commits that do not exist or that the viewer may not see.

Rendered Markdown does not depend on the viewer, so that it can be cached. Whether `#12`, `owner/name#12`, `@name`
or a commit hash refers to something is decided here, for the whole page with one query for each kind.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git.commits import find_commit
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import accounts, issue_lists
from holdfast.hosting.store.issue_lists import IssueName

__all__ = ["without_dead_references"]

# The maximum number of linked references on a page; later ones are plain text, since each costs a lookup.
MOST_LOOKED_UP: Final = 500
MOST_COMMITS: Final = 100
LINK: Final = re.compile(r'<a href="(/[^"]*)" class="(?:reference|mention)"[^>]*>([^<]*)</a>')
ISSUE: Final = re.compile(r"/([^/]+)/([^/]+)/issues/(\d{1,9})")
COMMIT: Final = re.compile(r"/[^/]+/[^/]+/commit/([0-9a-f]{40})")
PERSON: Final = re.compile(r"/([^/]+)")


def without_dead_references(request: RequestContext, target: RepositoryAccess, html: str) -> str:
    """Return the HTML of a page with each dead reference as plain text."""
    paths = list(dict.fromkeys(link[1] for link in LINK.finditer(html)))[:MOST_LOOKED_UP]
    if not paths:
        return html
    alive = live_issues(request, paths) | live_people(request, paths) | live_commits(request, target, paths)
    return LINK.sub(lambda link: link[0] if link[1] in alive else link[2], html)


def live_issues(request: RequestContext, paths: Iterable[str]) -> set[str]:
    """Return the paths that refer to an issue that the viewer may read."""
    named: dict[IssueName, list[str]] = {}
    for path in paths:
        if match := ISSUE.fullmatch(path):
            owner, name = (unquote(part).casefold() for part in match.group(1, 2))
            named.setdefault((owner, name, int(match[3])), []).append(path)
    if not named:
        return set()
    caller = request.actor
    readable = issue_lists.readable_among(request.app.database, named, caller.user, public_only=caller.public_only)
    return {path for name in readable for path in named[name]}


def live_people(request: RequestContext, paths: Iterable[str]) -> set[str]:
    """Return the paths that refer to a user or an organization that is visible to the viewer."""
    named = {path: unquote(match[1]).casefold() for path in paths if (match := PERSON.fullmatch(path))}
    if not named:
        return set()
    people = accounts.by_names(request.app.database, set(named.values()), organizations=True)
    visible_names = {name for name, account in people.items() if access.account_visible(request.actor, account)}
    return {path for path, name in named.items() if name in visible_names}


def live_commits(request: RequestContext, target: RepositoryAccess, paths: Iterable[str]) -> set[str]:
    """Return the paths that refer to a commit of this repository."""
    named = {path: match[1] for path in paths if (match := COMMIT.fullmatch(path))}
    if not named or not target.permissions.may_read(Unit.CODE):
        return set()
    repo = open_git(request.app, target)
    return {path for path, commit in list(named.items())[:MOST_COMMITS] if find_commit(repo, commit) is not None}
