"""A typical program written with pyforgejo, which validates every response against its models.

`pyforgejo_flow.py URL NAME PASSWORD TOKEN`
"""

import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyforgejo import CreatePullReviewComment, PyforgejoApi
from pyforgejo.core.api_error import ApiError
from pyforgejo.core.request_options import RequestOptions


@contextmanager
def refused(status: int) -> Iterator[None]:
    """Expect an error with a status and the contract's body."""
    answered = 0
    try:
        yield
    except ApiError as error:
        answered = error.status_code or 0
    assert answered == status, f"answered with {answered} instead of {status}"


def every_page(listed: Callable[[int], list[object]]) -> list[object]:
    """Page through a list until a page is empty."""
    results: list[object] = []
    page = 1
    while some := listed(page):
        results += some
        page += 1
    return results


def account(api: PyforgejoApi, name: str) -> None:
    """Get the version and the settings of the service, and users."""
    assert api.miscellaneous.get_version().version
    assert api.settings.get_general_api_settings().max_response_items == 50
    assert api.settings.get_general_repository_settings().http_git_disabled is False
    me = api.user.get_current()
    assert (me.login, me.is_admin) == (name, True)
    assert api.user.get(username=name).id == me.id
    assert [item.login for item in api.user.search(q=name).data] == [name]
    with refused(404):
        api.user.get(username="nobody-at-all")


def people(api: PyforgejoApi) -> None:
    """Make users as the administrator."""
    for name in ("fern", "moss"):
        created = api.admin.create_user(
            username=name, email=f"{name}@example.org", password="a-green-password-7", must_change_password=False
        )
        assert created.login == name
        assert created.created.year >= 2020
    with refused(422):
        api.admin.create_user(username="Fern", email="f@example.org", password="a-green-password-7")
    assert len(every_page(lambda page: api.admin.search_users(page=page, limit=2))) >= 3


def repository(api: PyforgejoApi, name: str) -> None:
    """Make, find, change and share a repository."""
    created = api.repository.create_current_user_repo(
        name="garden", description="What grows", auto_init=True, default_branch="main", private=True
    )
    assert (created.full_name, created.empty, created.private) == (f"{name}/garden", False, True)
    assert created.permissions.admin
    with refused(409):
        api.repository.create_current_user_repo(name="GARDEN")
    with refused(422):
        api.repository.create_current_user_repo(name="..")
    shown = api.repository.repo_get(owner=name, repo="garden")
    assert shown.id == created.id
    assert api.repository.repo_get_by_id(id=created.id).full_name == created.full_name
    api.repository.repo_add_collaborator(owner=name, repo="garden", collaborator="fern", permission="write")
    permission = api.repository.repo_get_repo_permissions(owner=name, repo="garden", collaborator="fern")
    assert permission.permission == "write"
    assert [user.login for user in api.repository.repo_list_collaborators(owner=name, repo="garden")] == ["fern"]
    api.repository.repo_update_topics(owner=name, repo="garden", topics=["plants", "soil"])
    assert api.repository.repo_list_topics(owner=name, repo="garden").topics == ["plants", "soil"]
    for number in range(4):
        api.repository.create_current_user_repo(name=f"pot-{number}")
    listed = every_page(lambda page: api.user.current_list_repos(page=page, limit=2))
    assert len(listed) == 5
    with refused(404):
        api.repository.repo_get(owner=name, repo="desert")


def organization(api: PyforgejoApi) -> None:
    """Make an organization with a team, which gets a repository and a member."""
    created = api.organization.org_create(username="forest", full_name="The Forest", visibility="public")
    assert created.name == "forest"
    with refused(422):
        api.organization.org_create(username="Forest")
    assert api.organization.create_org_repo(org="forest", name="trees", auto_init=True).full_name == "forest/trees"
    team = api.organization.org_create_team(
        org="forest", name="rangers", permission="write", units=["repo.code", "repo.issues"]
    )
    api.organization.org_add_team_repository(id=team.id, org="forest", repo="trees")
    api.organization.org_add_team_member(id=team.id, username="moss")
    assert [user.login for user in api.organization.org_list_team_members(id=team.id)] == ["moss"]
    assert [found.name for found in api.organization.org_list_team_repos(id=team.id)] == ["trees"]
    assert {found.name for found in api.organization.org_list_teams(org="forest")} == {"Owners", "rangers"}
    assert api.organization.org_edit_team(id=team.id, name="rangers", permission="read").permission == "read"
    api.organization.org_is_member(org="forest", username="moss")
    with refused(404):
        api.organization.org_is_member(org="forest", username="fern")
    assert api.organization.org_edit(org="forest", description="Dense").description == "Dense"
    assert [found.name for found in api.organization.org_list_current_user_orgs()] == ["forest"]
    api.organization.org_remove_team_member(id=team.id, username="moss")
    api.organization.org_delete_team(id=team.id)
    api.repository.repo_delete(owner="forest", repo="trees")
    api.organization.org_delete(org="forest")
    with refused(404):
        api.organization.org_get(org="forest")


def hooks(api: PyforgejoApi, name: str) -> None:
    """Create, list, get, edit and delete webhooks of every kind of owner."""
    api.organization.org_create(username="meadow")
    config = {"url": "https://ci.example.org/h", "content_type": "json", "secret": "sap"}
    here = {"owner": name, "repo": "garden"}
    homes: list[tuple[dict[str, Any], Any, Any, Any, Any, Any]] = [
        (
            {"org": "meadow"},
            api.organization.org_create_hook,
            api.organization.org_list_hooks,
            api.organization.org_get_hook,
            api.organization.org_edit_hook,
            api.organization.org_delete_hook,
        ),
        (
            here,
            api.repository.repo_create_hook,
            api.repository.repo_list_hooks,
            api.repository.repo_get_hook,
            api.repository.repo_edit_hook,
            api.repository.repo_delete_hook,
        ),
        (
            {},
            api.user.create_hook,
            api.user.list_hooks,
            api.user.get_hook,
            api.user.edit_hook,
            api.user.delete_hook,
        ),
        (
            {},
            api.admin.create_hook,
            api.admin.list_hooks,
            api.admin.get_hook,
            api.admin.edit_hook,
            api.admin.delete_hook,
        ),
    ]
    for place, create, listed, show, edit, delete in homes:
        created = create(**place, type="gitea", config=config, events=["push", "issues"], branch_filter="main")
        assert (created.type, created.active, created.branch_filter) == ("gitea", False, "main")
        assert "issue_comment" in created.events
        assert (created.config["url"], "secret" in created.config) == (config["url"], False)
        assert created.created_at.year >= 2020
        create(**place, type="slack", config={**config, "channel": "#grass"})
        assert [len(listed(**place, page=page, limit=1)) for page in (1, 2, 3)] == [1, 1, 0]
        assert show(**place, id=created.id) == created
        changed = edit(**place, id=created.id, active=True)
        assert (changed.active, changed.branch_filter, changed.events) == (True, "main", created.events)
        for wrong in ({"type": "pigeon"}, {"config": {"url": "x"}}, {"events": ["rain"]}):
            with refused(422):
                create(**place, **{"type": "gitea", "config": config, **wrong})
        if place == here:
            api.repository.repo_test_hook(**here, id=created.id, ref="main")
        for item in listed(**place):
            delete(**place, id=item.id)
        with refused(404):
            delete(**place, id=created.id)
        with refused(404):
            show(**place, id=created.id)
    api.organization.org_delete(org="meadow")


def code(api: PyforgejoApi, name: str) -> None:
    """Look at branches, commits, trees, blobs and tags."""
    place = {"owner": name, "repo": "garden"}
    [main] = api.repository.repo_list_branches(**place)
    created = api.repository.repo_create_branch(**place, new_branch_name="beds/roses", old_ref_name="main")
    assert created.commit.id == main.commit.id
    with refused(409):
        api.repository.repo_create_branch(**place, new_branch_name="beds/roses")
    assert api.repository.repo_get_branch(**place, branch="beds/roses").name == "beds/roses"
    [commit] = api.repository.repo_get_all_commits(**place, sha="main")
    assert commit.sha == main.commit.id
    assert api.repository.repo_get_single_commit(**place, sha=commit.sha).commit.message
    tree = api.repository.get_tree(**place, sha="main", recursive=True)
    assert [entry.path for entry in tree.tree] == ["README.md"]
    assert api.repository.get_blob(**place, sha=tree.tree[0].sha).encoding == "base64"
    assert api.repository.repo_create_tag(**place, tag_name="v1", target="main", message="One").name == "v1"
    assert [tag.name for tag in api.repository.repo_list_tags(**place)] == ["v1"]
    assert len(api.repository.repo_list_all_git_refs(**place)) == 3
    assert api.repository.repo_compare_diff(**place, basehead="main...beds/roses").total_commits == 0
    with refused(403):
        api.repository.repo_delete_branch(**place, branch="main")
    api.repository.repo_delete_branch(**place, branch="beds/roses")
    with refused(404):
        api.repository.repo_get_branch(**place, branch="beds/roses")


def issues(api: PyforgejoApi, name: str) -> None:
    """Make issues with everything they can have, and find them by it."""
    place = {"owner": name, "repo": "garden"}
    label = api.issue.create_label(**place, name="weed", color="#aa0000")
    milestone = api.issue.create_milestone(**place, title="Spring", description="When it is warm")
    made = api.issue.create_issue(
        **place, title="Thistles", body="Everywhere", assignees=["fern"], labels=[label.id], milestone=milestone.id
    )
    assert (made.number, made.milestone.title, [label.name for label in made.labels]) == (1, "Spring", ["weed"])
    assert [user.login for user in made.assignees] == ["fern"]
    with refused(422):
        api.issue.create_issue(**place, title="")
    for number in range(4):
        api.issue.create_issue(**place, title=f"Seed {number}")
    assert len(every_page(lambda page: api.issue.list_issues(**place, page=page, limit=2))) == 5
    for chosen in ({"labels": "weed"}, {"milestones": "Spring"}, {"q": "thistle"}, {"assigned_by": "fern"}):
        assert [issue.number for issue in api.issue.list_issues(**place, **chosen)] == [1], chosen
    comment = api.issue.create_comment(**place, index=1, body="Pull them")
    assert api.issue.edit_comment(**place, id=comment.id, body="Pull them all").body == "Pull them all"
    assert [comment.id for comment in api.issue.get_comments(**place, index=1)] == [comment.id]
    closed = api.issue.edit_issue(**place, index=1, state="closed")
    assert closed.closed_at is not None
    assert {entry.type for entry in api.issue.get_comments_and_timeline(**place, index=1)} >= {"comment", "close"}
    assert api.issue.get_labels(**place, index=1)[0].id == label.id
    api.issue.clear_labels(**place, index=1)
    assert api.issue.get_labels(**place, index=1) == []
    api.issue.delete_comment(**place, id=comment.id)
    api.issue.delete(**place, index=5)
    with refused(404):
        api.issue.get_issue(**place, index=5)
    assert api.issue.edit_milestone(**place, id=milestone.id, state="closed").closed_at is not None
    assert [item.title for item in api.issue.get_milestones_list(**place, state="all")] == ["Spring"]
    api.issue.delete_label(**place, id=label.id)


def dependencies(api: PyforgejoApi, name: str) -> None:
    """Add dependencies between issues, list them in both directions, and remove them."""
    place = {"owner_": name, "repo_": "garden"}
    where = {"owner": name, "repo": "garden"}
    elsewhere = {"owner": name, "repo": "pot-0"}
    [first, second] = [api.issue.create_issue(**where, title=title) for title in ("Sow", "Dig")]
    third = api.issue.create_issue(**elsewhere, title="Buy seeds")
    created = api.issue.create_issue_dependencies(**place, index_=first.number, index=second.number, **where)
    assert (created.number, created.blocked_by_count, created.blocking_count) == (first.number, 1, 0)
    api.issue.create_issue_blocking(owner_=name, repo_="pot-0", index_=third.number, index=first.number, **where)
    blockers = api.issue.list_issue_dependencies(owner=name, repo="garden", index=first.number)
    assert [blocker.title for blocker in blockers] == ["Dig", "Buy seeds"]
    assert [blocker.repository.name for blocker in blockers] == ["garden", "pot-0"]
    blocked = api.issue.list_blocks(owner=name, repo="garden", index=second.number)
    assert [item.id for item in blocked] == [first.id]
    with refused(409):
        api.issue.create_issue_dependencies(**place, index_=second.number, index=first.number, **where)
    with refused(409):
        api.issue.create_issue_dependencies(**place, index_=first.number, index=second.number, **where)
    with refused(412):
        api.issue.edit_issue(**where, index=first.number, state="closed")
    told = api.issue.get_comments_and_timeline(**where, index=first.number)
    assert [entry.dependent_issue.title for entry in told] == ["Dig", "Buy seeds"]
    api.issue.remove_issue_dependencies(**place, index_=first.number, index=second.number, **where)
    api.issue.remove_issue_blocking(owner_=name, repo_="pot-0", index_=third.number, index=first.number, **where)
    assert api.issue.list_issue_dependencies(owner=name, repo="garden", index=first.number) == []
    with refused(404):
        api.issue.remove_issue_dependencies(**place, index_=first.number, index=second.number, **where)


def working_day(api: PyforgejoApi, name: str) -> None:
    """Create an issue, a branch, files, a pull request, a review, a status, a merge and a release."""
    place = {"owner": name, "repo": "garden"}
    as_moss: RequestOptions = {"additional_headers": {"Sudo": "moss"}}
    api.repository.repo_add_collaborator(**place, collaborator="moss", permission="write")
    issue = api.issue.create_issue(**place, title="The beds are dry")
    api.repository.repo_create_branch(**place, new_branch_name="water", old_ref_name="main")
    for number in range(3):
        created = api.repository.repo_create_file(
            **place,
            filepath=f"beds/{number}.txt",
            content=b64encode(b"one\ntwo\n").decode(),
            branch="water",
            message="Water it",
        )
        assert created.content.path == f"beds/{number}.txt"
    pull = api.repository.repo_create_pull_request(
        **place, head="water", base="main", title="Water the beds", body=f"Closes #{issue.number}"
    )
    at = {**place, "index": pull.number}
    assert (pull.head.ref, pull.base.ref, pull.merged) == ("water", "main", False)
    assert [found.status for found in api.repository.repo_get_pull_request_files(**at)] == ["added"] * 3
    assert len(api.repository.repo_get_pull_request_commits(**at)) == 3
    with refused(422):
        api.repository.repo_create_pull_review(**at, event="APPROVED")
    review = api.repository.repo_create_pull_review(
        **at,
        event="APPROVED",
        body="Green",
        commit_id=pull.head.sha,
        comments=[CreatePullReviewComment(path="beds/0.txt", body="More", new_position=2)],
        request_options=as_moss,
    )
    assert (review.state, review.comments_count, review.user.login) == ("APPROVED", 1, "moss")
    comments = api.repository.repo_get_pull_review_comments(**at, id=review.id)
    assert [comment.body for comment in comments] == ["More"]
    status = api.repository.repo_create_status(**place, sha=pull.head.sha, state="success", context="ci/soil")
    assert (status.status, status.context) == ("success", "ci/soil")
    assert api.repository.repo_get_combined_status_by_ref(**place, ref=pull.head.sha).state == "success"
    with refused(404):
        api.repository.repo_pull_request_is_merged(**at)
    api.repository.repo_merge_pull_request(**at, do="rebase-merge", head_commit_id=pull.head.sha)
    api.repository.repo_pull_request_is_merged(**at)
    merged = api.repository.repo_get_pull_request(**at)
    assert (merged.merged, merged.state, merged.merged_by.login) == (True, "closed", name)
    assert api.issue.get_issue(**place, index=issue.number).state == "closed"
    release = api.repository.repo_create_release(**place, tag_name="v2", target_commitish="main", name="Two")
    asset = api.repository.repo_create_release_attachment(**place, id=release.id, request=b"seeds", name="s.bin")
    assert (asset.name, asset.size) == ("s.bin", 5)
    shown = api.repository.repo_get_release_by_tag(**place, tag="v2")
    assert [asset.name for asset in shown.assets] == ["s.bin"]
    api.repository.repo_delete_branch(**place, branch="water")


def main() -> None:
    """Run all flows once."""
    url, name, _password, token = sys.argv[1:]
    api = PyforgejoApi(base_url=f"{url}/api/v1", api_key=f"token {token}")
    account(api, name)
    people(api)
    repository(api, name)
    organization(api)
    hooks(api, name)
    code(api, name)
    issues(api, name)
    dependencies(api, name)
    working_day(api, name)
    api.repository.repo_delete(owner=name, repo="garden")
    with refused(404):
        api.repository.repo_get(owner=name, repo="garden")
    stranger = PyforgejoApi(base_url=f"{url}/api/v1", api_key="token " + "0" * 40)
    with refused(401):
        stranger.user.get_current()


if __name__ == "__main__":
    main()
