"""Every endpoint of the API."""

from types import ModuleType
from typing import Final

from holdfast.hosting.api import (
    admin,
    archives,
    assignees,
    branches,
    collaborators,
    comments,
    commits,
    contents,
    contents_write,
    dependencies,
    editorconfig,
    file_contents,
    issue_labels,
    issue_search,
    issues,
    labels,
    languages,
    members,
    milestones,
    objects,
    organizations,
    protections,
    pulls,
    raw,
    raw_upload,
    repositories,
    statuses,
    tags,
    teams,
    tokens,
    topics,
    users,
    version,
    webhooks,
)
from holdfast.hosting.http.endpoints import Endpoint

__all__ = ["endpoints"]

MODULES: Final[tuple[ModuleType, ...]] = (
    *(version, users, tokens, organizations, members, teams, admin),
    *(repositories, collaborators, topics, branches, protections),
    *(commits, statuses, tags, objects, languages),
    *(contents, file_contents, raw, archives, editorconfig),
    *(contents_write, raw_upload),
    *(webhooks, dependencies),
    *(issue_search, issues, comments, issue_labels, assignees, labels, milestones, pulls),
)


def endpoints() -> list[Endpoint]:
    """Return the endpoints of every module, by name or in a tuple `ENDPOINTS`, in source order."""
    return [
        value
        for module in MODULES
        for value in (*vars(module).values(), *getattr(module, "ENDPOINTS", ()))
        if isinstance(value, Endpoint)
    ]
