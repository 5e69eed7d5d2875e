"""The endpoints of all web pages."""

from types import ModuleType
from typing import Final

from holdfast.hosting.http.endpoints import Endpoint
from holdfast.web import (
    avatars,
    diagram_frame,
    explore,
    forks,
    home,
    login,
    notifications,
    passkey_login,
    reference,
    release_forms,
    release_pages,
    releases,
    search,
    second_factor,
    sign_up,
    stylesheet,
    subscription_forms,
)
from holdfast.web.admin import service, users
from holdfast.web.chats import data_folder_pages, personal_pages, repository_files, upload_endpoints
from holdfast.web.code import (
    activity_page,
    blame_page,
    commit_page,
    compare_page,
    delete_page,
    edit_page,
    file_finder,
    history_page,
    raw_files,
    refs_page,
    repository_pages,
    upload_page,
)
from holdfast.web.issues import (
    board,
    comment_forms,
    dependency_forms,
    dependency_list,
    graph,
    issue_forms,
    issue_list,
    issue_page,
    labels,
    milestones,
    my_issues,
    new_issue,
)
from holdfast.web.people import create_forms, owner
from holdfast.web.pulls import commits_page, files_page, merge_forms, review_forms
from holdfast.web.settings import (
    account,
    branch_protection,
    collaborators,
    danger_zone,
    delivery_pages,
    general,
    hook_pages,
    organization,
    passkeys,
    sessions,
    teams,
    tokens,
    two_factor,
)
from holdfast.web.settings import avatars as avatar_pages

__all__ = ["endpoints"]

MODULES: Final[tuple[ModuleType, ...]] = (
    *(home, explore, search, notifications, login, second_factor, passkey_login, sign_up),
    *(avatars, reference, stylesheet, diagram_frame),
    *(releases, release_pages, release_forms, subscription_forms, forks),
    *(raw_files, repository_pages, history_page, commit_page, blame_page, compare_page, refs_page, activity_page),
    *(edit_page, upload_page, delete_page, file_finder),
    *(
        issue_list,
        board,
        my_issues,
        issue_page,
        new_issue,
        issue_forms,
        comment_forms,
        dependency_forms,
        graph,
        dependency_list,
        labels,
        milestones,
    ),
    *(commits_page, files_page, merge_forms, review_forms),
    *(owner, create_forms, general, collaborators, branch_protection, danger_zone, organization, teams),
    *(account, avatar_pages, two_factor, passkeys, tokens, sessions, hook_pages, delivery_pages),
    *(users, service),
    *(data_folder_pages, personal_pages, upload_endpoints, repository_files),
)


def endpoints() -> list[Endpoint]:
    """Return the endpoints that the modules declare by name, and those in their tuples `MADE`.

    API endpoints that a page module imports are not included.
    """
    named = [
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, Endpoint) and value.run.__module__ == module.__name__
    ]
    return [*named, *(page for module in MODULES for page in getattr(module, "MADE", ()))]
