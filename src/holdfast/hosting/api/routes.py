"""The list of all endpoints of the API."""

from types import ModuleType
from typing import Final

from holdfast.hosting.api import (
    admin,
    archives,
    assignees,
    avatars,
    branches,
    collaborators,
    comments,
    commits,
    contents,
    contents_write,
    dependencies,
    editorconfig,
    file_contents,
    file_templates,
    forks,
    gpg_keys,
    issue_attachments,
    issue_labels,
    issue_search,
    issue_subscriptions,
    issue_templates,
    issues,
    labels,
    languages,
    markup,
    members,
    migrations,
    milestones,
    mirrors,
    notes,
    notifications,
    objects,
    organizations,
    pins,
    protections,
    pull_changes,
    pull_merges,
    pulls,
    push_mirrors,
    raw,
    raw_upload,
    reactions,
    ref_log,
    release_assets,
    releases,
    repositories,
    repository_teams,
    repository_templates,
    reviews,
    ssh_keys,
    statuses,
    subscriptions,
    tag_protections,
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
    *(
        repositories,
        forks,
        migrations,
        mirrors,
        push_mirrors,
        repository_templates,
        collaborators,
        topics,
        branches,
        protections,
    ),
    *(commits, statuses, tags, tag_protections, releases, release_assets, ref_log, objects, languages),
    *(contents, file_contents, raw, archives, editorconfig, file_templates, issue_templates),
    *(contents_write, raw_upload),
    *(webhooks, dependencies),
    *(
        issue_search,
        issues,
        comments,
        issue_attachments,
        issue_labels,
        assignees,
        labels,
        milestones,
        pulls,
        pull_changes,
        reviews,
    ),
    *(ssh_keys, gpg_keys, subscriptions, avatars),
    *(pull_merges, reactions, pins, issue_subscriptions, markup, notes, notifications, repository_teams),
)


def endpoints() -> list[Endpoint]:
    """Return the endpoints of every module, by name or in a tuple `ENDPOINTS`, in source order."""
    return [
        value
        for module in MODULES
        for value in (*vars(module).values(), *getattr(module, "ENDPOINTS", ()))
        if isinstance(value, Endpoint)
    ]
