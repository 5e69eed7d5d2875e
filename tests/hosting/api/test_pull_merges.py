"""Merges of pull requests: merge styles, requirements, scheduled and concurrent merges."""

import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import httpx
import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import RefMoved
from holdfast.hosting.services import pull_merges, ref_updates
from holdfast.hosting.services.pull_merges import MergeOrder, retry_scheduled, try_scheduled
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import accounts, issues, repositories
from holdfast.hosting.store.commit_statuses import add_status
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, WRITE, let_in, recorded_events

REPOSITORY = "/repos/ada/ship"
PULLS = f"{REPOSITORY}/pulls"
MERGE = f"{PULLS}/1/merge"


def commit(client: httpx.Client, branch: str, path: str, text: str, message: str = "") -> str:
    """Commit a file to a branch, and return the commit."""
    body = {"content": b64encode(text.encode()).decode(), "branch": branch, "message": message}
    response = client.post(f"{REPOSITORY}/contents/{path}", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["commit"]["sha"])


def tip(client: httpx.Client, branch: str) -> str:
    """Return the commit of a branch."""
    return str(client.get(f"{REPOSITORY}/branches/{branch}").json()["commit"]["id"])


def git_commit(client: httpx.Client, sha: str) -> dict[str, object]:
    """Return a commit."""
    result: dict[str, object] = client.get(f"{REPOSITORY}/git/commits/{sha}").json()
    return result


def parents(client: httpx.Client, sha: str) -> list[str]:
    """Return the parents of a commit."""
    return [parent["sha"] for parent in client.get(f"{REPOSITORY}/git/commits/{sha}").json()["parents"]]


@pytest.fixture
def pull(ada: httpx.Client) -> str:
    """Open a pull request of one commit while main has another one, and return its head."""
    commit(ada, "main", "m", "on main")
    head = commit(ada, "fix", "f", "fixed", "a fix\n\nby hand")
    response = ada.post(PULLS, json={"title": "Fix it", "head": "fix", "base": "main", "body": "because"})
    assert response.status_code == 201, response.text
    return head


def test_a_merge_commit_joins_both_branches(ada: httpx.Client, pull: str) -> None:
    """A merged pull request is closed and cannot be merged again."""
    base = tip(ada, "main")
    assert ada.get(MERGE).status_code == 404
    response = ada.post(MERGE, json={"Do": "merge"})
    assert (response.status_code, response.content) == (200, b"")
    new_head = tip(ada, "main")
    assert parents(ada, new_head) == [base, pull]
    result = ada.get(f"{REPOSITORY}/git/commits/{new_head}").json()
    assert result["commit"]["message"] == "Merge pull request 'Fix it' (#1) from fix into main\n"
    shown = ada.get(f"{PULLS}/1").json()
    assert (shown["state"], shown["merged"], shown["merge_commit_sha"]) == ("closed", True, new_head)
    assert shown["merged_by"]["login"] == "ada"
    assert shown["merged_at"]
    assert ada.get(MERGE).status_code == 204
    assert ada.get(f"{REPOSITORY}/contents/f").status_code == 200
    assert ada.get(f"{REPOSITORY}/contents/m").status_code == 200
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 405
    assert tip(ada, "main") == new_head
    assert [item["type"] for item in ada.get(f"{REPOSITORY}/issues/1/timeline").json()] == ["merge_pull"]


def test_a_squash_names_all_authors(clients: ServiceClients, ada: httpx.Client) -> None:
    """The author of the pull request is the author of the commit; other authors are in trailers."""
    account = clients.account("bea")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), account, WRITE)
    bea = clients.with_token(account)
    commit(ada, "fix", "f", "fixed")
    commit(bea, "fix", "g", "more")
    ada.post(PULLS, json={"title": "Both", "head": "fix", "base": "main"})
    assert bea.post(MERGE, json={"do": "squash", "merge_message_field": "In short."}).status_code == 200
    result = ada.get(f"{REPOSITORY}/git/commits/{tip(ada, 'main')}").json()["commit"]
    assert (result["author"]["name"], result["committer"]["name"]) == ("ada", "bea")
    assert result["message"].startswith("Both (#1)\n\nIn short.\n\nCo-authored-by: bea <")
    assert result["message"].count("Co-authored-by") == 1


@pytest.mark.parametrize("style", ["rebase", "rebase-merge"])
def test_a_rebase_replays_the_commits(ada: httpx.Client, pull: str, style: str) -> None:
    """Rebased commits keep their messages; the style `rebase-merge` adds a merge commit."""
    base = tip(ada, "main")
    body = {"Do": style, "MergeTitleField": "joined", "MergeMessageField": "both"}
    assert ada.post(MERGE, json=body).status_code == 200
    new_head = tip(ada, "main")
    if style == "rebase-merge":
        message = ada.get(f"{REPOSITORY}/git/commits/{new_head}").json()["commit"]["message"]
        assert message == "joined\n\nboth\n"
        assert parents(ada, new_head)[0] == base
        new_head = parents(ada, new_head)[1]
    assert new_head != pull
    assert parents(ada, new_head) == [base]
    assert ada.get(f"{REPOSITORY}/git/commits/{new_head}").json()["commit"]["message"] == "a fix\n\nby hand\n"


def test_only_a_branch_that_is_ahead_is_fast_forwarded(ada: httpx.Client, pull: str) -> None:
    """A fast-forward is refused until the head branch is updated with its base."""
    assert ada.post(MERGE, json={"do": "fast-forward-only"}).status_code == 405
    assert ada.post(f"{PULLS}/1/update", params={"style": "merge"}).status_code == 200
    head = tip(ada, "fix")
    assert parents(ada, head) == [pull, tip(ada, "main")]
    assert ada.get(f"{PULLS}/1").json()["head"]["sha"] == head
    assert ada.post(MERGE, json={"do": "fast-forward-only"}).status_code == 200
    assert tip(ada, "main") == head


def test_a_head_branch_is_rebased_on_its_base(ada: httpx.Client, pull: str) -> None:
    """Repeating an update changes nothing, and an unknown style is refused."""
    assert ada.post(f"{PULLS}/1/update", params={"style": "rebase"}).status_code == 200
    head = tip(ada, "fix")
    assert head != pull
    assert parents(ada, head) == [tip(ada, "main")]
    assert ada.post(f"{PULLS}/1/update", params={"style": "rebase"}).status_code == 200
    assert ada.post(f"{PULLS}/1/update").status_code == 200
    assert tip(ada, "fix") == head
    assert ada.post(f"{PULLS}/1/update", params={"style": "other"}).status_code == 422


def test_a_merge_by_hand_is_recorded(ada: httpx.Client, pull: str) -> None:
    """A manual merge needs the setting of the repository and a commit that is in the base branch."""
    base = tip(ada, "main")
    body = {"do": "manually-merged", "merge_commit_id": base}
    assert ada.post(MERGE, json=body).status_code == 405
    ada.patch(REPOSITORY, json={"allow_manual_merge": True})
    assert ada.post(MERGE, json={**body, "merge_commit_id": pull}).status_code == 405
    assert ada.post(MERGE, json={**body, "merge_commit_id": "x"}).status_code == 405
    assert ada.post(MERGE, json=body).status_code == 200
    assert tip(ada, "main") == base
    assert ada.get(f"{PULLS}/1").json()["merge_commit_sha"] == base


def test_conflicts_are_named_by_file(ada: httpx.Client) -> None:
    """A merge of any style and an update of the head branch fail with the names of conflicting files."""
    commit(ada, "main", "same", "1")
    commit(ada, "fix", "same", "2")
    ada.post(PULLS, json={"title": "Fix it", "head": "fix", "base": "main"})
    before = tip(ada, "main")
    for style in ("merge", "squash", "rebase"):
        response = ada.post(MERGE, json={"do": style})
        assert response.status_code == 405
        assert "same" in response.json()["message"]
    response = ada.post(f"{PULLS}/1/update")
    assert (response.status_code, "same" in response.json()["message"]) == (409, True)
    assert tip(ada, "main") == before


def test_the_head_must_be_the_expected_one(ada: httpx.Client, pull: str) -> None:
    """A merge with another `head_commit_id` than the current head gives 409."""
    assert ada.post(MERGE, json={"do": "merge", "head_commit_id": "0" * 40}).status_code == 409
    assert ada.post(MERGE, json={"do": "merge", "head_commit_id": pull}).status_code == 200


@pytest.mark.parametrize(
    ("style", "setting"),
    [
        ("merge", "allow_merge_commits"),
        ("squash", "allow_squash_merge"),
        ("rebase", "allow_rebase"),
        ("rebase-merge", "allow_rebase_explicit"),
        ("fast-forward-only", "allow_fast_forward_only_merge"),
    ],
)
def test_the_settings_allow_merge_styles(ada: httpx.Client, pull: str, style: str, setting: str) -> None:
    """A merge style that the settings of the repository disable is refused with 405 until they enable it."""
    assert pull
    assert ada.post(f"{PULLS}/1/update", params={"style": "merge"}).status_code == 200
    before = tip(ada, "main")
    ada.patch(REPOSITORY, json={setting: False})
    response = ada.post(MERGE, json={"do": style})
    assert (response.status_code, style in response.json()["message"]) == (405, True)
    assert tip(ada, "main") == before
    ada.patch(REPOSITORY, json={setting: True})
    assert ada.post(MERGE, json={"do": style}).status_code == 200


def test_what_cannot_be_merged_is_refused(clients: ServiceClients, ada: httpx.Client, pull: str) -> None:
    """Drafts, closed pull requests, unknown styles, archives and users without write access are refused."""
    before = tip(ada, "main")
    assert ada.post(MERGE, json={}).status_code == 422
    assert ada.post(MERGE, json={"do": "octopus"}).status_code == 422
    assert clients.anonymous.post(MERGE, json={"do": "merge"}).status_code == 401
    reader = clients.account("reader")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), reader, READ)
    for client in (clients.with_token(reader), clients.user("other")):
        assert client.post(MERGE, json={"do": "merge"}).status_code == 405
        assert client.post(f"{PULLS}/1/update").status_code == 403
    ada.patch(f"{PULLS}/1", json={"title": "WIP: Fix it"})
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 405
    ada.patch(f"{PULLS}/1", json={"title": "Fix it", "state": "closed"})
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 405
    ada.patch(f"{PULLS}/1", json={"state": "open"})
    ada.patch(REPOSITORY, json={"archived": True})
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 423
    assert ada.delete(MERGE).status_code == 423
    ada.patch(REPOSITORY, json={"archived": False, "private": True})
    assert clients.user("stranger").post(MERGE, json={"do": "merge"}).status_code == 404
    assert (tip(ada, "main"), tip(ada, "fix")) == (before, pull)


def test_an_open_blocker_forbids_a_merge(clients: ServiceClients, ada: httpx.Client, pull: str) -> None:
    """Open blockers prevent even a forced merge, and are named to users who may read them."""
    assert pull
    ada.post(f"{REPOSITORY}/issues", json={"title": "first"})
    ada.post("/user/repos", json={"name": "secret", "private": True})
    ada.post("/repos/ada/secret/issues", json={"title": "hidden"})
    blocked = f"{REPOSITORY}/issues/1/dependencies"
    assert ada.post(blocked, json={"owner": "ada", "repo": "ship", "index": 2}).status_code == 201
    assert ada.post(blocked, json={"owner": "ada", "repo": "secret", "index": 1}).status_code == 201
    bea = clients.account("bea")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bea, WRITE)
    before = tip(ada, "main")
    response = ada.post(MERGE, json={"do": "merge", "force_merge": True})
    assert response.status_code == 405
    assert "#2" in response.json()["message"]
    assert "ada/secret#1" in response.json()["message"]
    response = clients.with_token(bea).post(MERGE, json={"do": "merge"})
    assert response.status_code == 405
    assert "#2" in response.json()["message"]
    assert "secret" not in response.json()["message"]
    assert tip(ada, "main") == before
    ada.patch(f"{REPOSITORY}/issues/2", json={"state": "closed"})
    ada.patch("/repos/ada/secret/issues/1", json={"state": "closed"})
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 200


def test_closing_keywords_apply_and_the_branch_is_deleted(clients: ServiceClients, ada: httpx.Client) -> None:
    """Keywords in the body, but not in code, and in commits close issues, with events."""
    for title in ("by body", "by commit", "only in code"):
        ada.post(f"{REPOSITORY}/issues", json={"title": title})
    commit(ada, "main", "m", "on main")
    commit(ada, "fix", "f", "fixed", "Fixes #2")
    ada.post(PULLS, json={"title": "Fix it", "head": "fix", "base": "main", "body": "closes #1, not `closes #3`"})
    body = {"do": "merge", "delete_branch_after_merge": True}
    assert ada.post(f"{PULLS}/4/merge", json=body).status_code == 200
    states = [ada.get(f"{REPOSITORY}/issues/{number}").json()["state"] for number in (1, 2, 3)]
    assert states == ["closed", "closed", "open"]
    assert ada.get(f"{REPOSITORY}/branches/fix").status_code == 404
    kinds = [kind for kind, _ in recorded_events(clients.database)][-5:]
    assert kinds == ["push", "delete", "pull_request", "issues", "issues"]
    gone = ada.get(f"{REPOSITORY}/issues/4/timeline").json()[-1]
    assert (gone["type"], gone["old_ref"]) == ("delete_branch", "fix")


def test_the_repository_says_whether_branches_are_deleted(ada: httpx.Client, pull: str) -> None:
    """The head branch is deleted if the repository's setting says so, unless the request says otherwise."""
    assert pull
    ada.patch(REPOSITORY, json={"default_delete_branch_after_merge": True})
    body = {"do": "merge", "delete_branch_after_merge": False}
    assert ada.post(MERGE, json=body).status_code == 200
    assert ada.get(f"{REPOSITORY}/branches/fix").status_code == 200
    commit(ada, "other", "o", "other")
    ada.post(PULLS, json={"title": "Other", "head": "other", "base": "main"})
    assert ada.post(f"{PULLS}/2/merge", json={"do": "merge"}).status_code == 200
    assert ada.get(f"{REPOSITORY}/branches/other").status_code == 404


def protect(ada: httpx.Client, **rule: object) -> None:
    """Protect main."""
    response = ada.post(f"{REPOSITORY}/branch_protections", json={"rule_name": "main", **rule})
    assert response.status_code == 201, response.text


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ({"required_approvals": 1}, "approvals"),
        ({"enable_status_check": True, "status_check_contexts": ["ci/*"]}, "ci/*"),
        ({"block_on_outdated_branch": True}, "behind"),
        ({"protected_file_patterns": "f"}, "protected"),
    ],
)
def test_branch_protection_applies_to_merges(
    ada: httpx.Client, pull: str, rule: dict[str, object], word: str
) -> None:
    """Administrators may force a merge unless `block_admin_merge_override` is set."""
    assert pull
    protect(ada, **rule, block_admin_merge_override=True)
    for force in (False, True):
        response = ada.post(MERGE, json={"do": "merge", "force_merge": force})
        assert (response.status_code, word in response.json()["message"]) == (405, True)
    ada.patch(f"{REPOSITORY}/branch_protections/main", json={"block_admin_merge_override": False})
    assert ada.post(MERGE, json={"do": "merge"}).status_code == 405
    assert ada.post(MERGE, json={"do": "merge", "force_merge": True}).status_code == 200


def test_a_protected_branch_needs_no_push_permission_for_a_merge(
    clients: ServiceClients, ada: httpx.Client, pull: str
) -> None:
    """Users on the merge allowlist may merge without push permission; the owner may not, even by force."""
    assert pull
    bea = clients.account("bea")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bea, WRITE)
    protect(ada, enable_push=False, enable_merge_whitelist=True, merge_whitelist_usernames=["bea"])
    assert ada.post(MERGE, json={"do": "merge", "force_merge": True}).status_code == 405
    assert clients.with_token(bea).post(MERGE, json={"do": "merge"}).status_code == 200


def test_signed_commits_cannot_be_made_here(ada: httpx.Client, pull: str) -> None:
    """A merge into a branch that requires signed commits is refused, even if it is forced."""
    assert pull
    protect(ada, require_signed_commits=True)
    assert ada.post(MERGE, json={"do": "merge", "force_merge": True}).status_code == 405


def test_a_merge_waits_for_its_checks(clients: ServiceClients, app: App, ada: httpx.Client, pull: str) -> None:
    """A merge is scheduled once, can be cancelled, and happens when the statuses succeed."""
    protect(ada, enable_status_check=True, status_check_contexts=["ci"])
    body = {"do": "squash", "merge_when_checks_succeed": True, "merge_title_field": "later"}
    assert ada.delete(MERGE).status_code == 404
    assert ada.post(MERGE, json=body).status_code == 201
    assert ada.post(MERGE, json=body).status_code == 409
    assert clients.user("other").delete(MERGE).status_code == 403
    assert ada.delete(MERGE).status_code == 204
    assert ada.post(MERGE, json=body).status_code == 201
    repository = repositories.find_repository(clients.database, "ada", "ship")
    assert try_scheduled(app, repository.id, pull) == 0
    assert ada.get(MERGE).status_code == 404
    status = {"context": "ci", "state": "success"}
    assert ada.post(f"{REPOSITORY}/statuses/{tip(ada, 'main')}", json=status).status_code == 201
    assert ada.get(MERGE).status_code == 404
    assert ada.post(f"{REPOSITORY}/statuses/{pull}", json=status).status_code == 201
    assert ada.get(MERGE).status_code == 204
    result = ada.get(f"{REPOSITORY}/git/commits/{tip(ada, 'main')}").json()
    assert result["commit"]["message"].startswith("later\n")
    assert ada.delete(MERGE).status_code == 404


def test_a_scheduled_merge_is_tried_again_later(
    clients: ServiceClients, app: App, ada: httpx.Client, pull: str
) -> None:
    """A task merges it if the process that stored the last status ended before the merge."""
    protect(ada, enable_status_check=True, status_check_contexts=["ci"])
    assert ada.post(MERGE, json={"do": "merge", "merge_when_checks_succeed": True}).status_code == 201
    assert retry_scheduled(app) == 0
    repository = repositories.find_repository(clients.database, "ada", "ship")
    with app.database.write() as connection:
        add_status(connection, repository, repository.owner, pull, context="ci", state="success")
    assert ada.get(MERGE).status_code == 404
    assert retry_scheduled(app) == 1
    assert ada.get(MERGE).status_code == 204
    assert retry_scheduled(app) == 0


def test_a_scheduled_merge_waits_for_an_approval(clients: ServiceClients, ada: httpx.Client, pull: str) -> None:
    """New commits stop a scheduled merge, because nobody has agreed to them."""
    assert pull
    bea = clients.account("bea")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "ship"), bea, WRITE)
    reviewer = clients.with_token(bea)
    protect(ada, required_approvals=1, block_on_rejected_reviews=True)
    body = {"do": "merge", "merge_when_checks_succeed": True}
    assert ada.post(MERGE, json=body).status_code == 201
    rejected = {"event": "REQUEST_CHANGES", "body": "no"}
    assert reviewer.post(f"{PULLS}/1/reviews", json=rejected).status_code == 200
    assert "requested changes" in ada.post(MERGE, json={"do": "merge"}).json()["message"]
    commit(ada, "fix", "more", "not agreed to")
    approved = {"event": "APPROVED", "body": "yes"}
    assert reviewer.post(f"{PULLS}/1/reviews", json=approved).status_code == 200
    assert ada.get(MERGE).status_code == 404
    assert ada.delete(MERGE).status_code == 204
    assert ada.post(MERGE, json=body).status_code == 200


def test_two_merges_at_once_merge_once(ada: httpx.Client, pull: str) -> None:
    """Exactly one of four concurrent merges succeeds, and the others get 405."""
    base = tip(ada, "main")
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda _: ada.post(MERGE, json={"do": "merge"}).status_code, range(4)))
    assert sorted(statuses) == [200, 405, 405, 405]
    assert parents(ada, tip(ada, "main")) == [base, pull]


def test_a_merge_waits_for_a_machine_that_was_too_slow(app: App, ada: httpx.Client, pull: str) -> None:
    """A merge waits for the advisory lock on PostgreSQL; SQLite has no such lock."""
    base = tip(ada, "main")
    repository = repositories.find_repository(app.database, "ada", "ship")
    with ThreadPoolExecutor(1) as pool:
        with app.database.advisory_lock(repository.id):
            merging = pool.submit(ada.post, MERGE, json={"do": "merge"})
            done, _ = wait([merging], timeout=30 if app.database.is_sqlite else 0.5)
            assert bool(done) is app.database.is_sqlite
        assert merging.result().status_code == 200
    assert parents(ada, tip(ada, "main")) == [base, pull]


def test_a_merge_that_was_too_slow_is_made_again_with_the_lock(
    app: App, ada: httpx.Client, pull: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge whose base moved is repeated with the lock; otherwise a faster process could delay it forever."""
    account = accounts.find_user(app.database, "ada")
    repository = repositories.find_repository(app.database, "ada", "ship")
    record, moved = ref_updates.record, [RefMoved("moved")]

    def lose_once(*given: Any, **named: Any) -> Any:
        if moved:
            raise moved.pop()
        assert app.contended[repository.id] > time.monotonic()
        return record(*given, **named)

    monkeypatch.setattr(ref_updates, "record", lose_once)
    target = RepositoryAccess(repository, permissions_in(app, Actor(account), repository))
    issue = issues.find_issue(app.database, repository, 1)
    assert pull_merges.merge(app, Actor(account), target, issue, MergeOrder(style="merge"))
    assert moved == []
    assert parents(ada, tip(ada, "main"))[1] == pull


def test_commits_and_merges_at_once_lose_nothing(ada: httpx.Client, pull: str) -> None:
    """Every acknowledged commit and merge is on the branch afterwards."""
    with ThreadPoolExecutor(4) as pool:
        merging = pool.submit(ada.post, MERGE, json={"do": "merge"})
        commits = list(pool.map(lambda number: commit(ada, "main", f"n{number}", "x"), range(6)))
    assert merging.result().status_code == 200
    names = {item["name"] for item in ada.get(f"{REPOSITORY}/contents").json()}
    assert {"a", "f", "m", *(f"n{number}" for number in range(6))} <= names
    assert len(set(commits)) == 6
    listed = {item["sha"] for item in ada.get(f"{REPOSITORY}/commits", params={"limit": 50}).json()}
    assert {*commits, pull, ada.get(f"{PULLS}/1").json()["merge_commit_sha"]} <= listed


def test_a_merge_beside_a_new_blocker_succeeds_or_is_refused(ada: httpx.Client) -> None:
    """A new blocker is always accepted, and a concurrent merge either succeeds or is refused with 405."""
    ada.post(f"{REPOSITORY}/issues", json={"title": "blocker"})
    for number, branch in enumerate(("fix", "other"), 2):
        commit(ada, branch, f"of-{branch}", "x")
        ada.post(PULLS, json={"title": branch, "head": branch, "base": "main"})
        blocked = f"{REPOSITORY}/issues/{number}/dependencies"
        with ThreadPoolExecutor(2) as pool:
            merging = pool.submit(ada.post, f"{PULLS}/{number}/merge", json={"do": "merge"})
            blocking = pool.submit(ada.post, blocked, json={"owner": "ada", "repo": "ship", "index": 1})
        merged, added = merging.result().status_code, blocking.result().status_code
        assert (merged, added) in {(200, 201), (405, 201)}
        assert ada.get(f"{PULLS}/{number}/merge").status_code == (204 if merged == 200 else 404)


def test_pull_requests_merged_at_once_into_one_branch_all_land(ada: httpx.Client) -> None:
    """Concurrent merges of different styles all succeed, since each is repeated on the newest commit."""
    commit(ada, "main", "m", "on main")
    styles = ("merge", "squash", "rebase")
    for turn in range(3):
        opened = {}
        for style in styles:
            branch = f"{style}-{turn}"
            response = ada.post(f"{REPOSITORY}/branches", json={"new_branch_name": branch, "old_ref_name": "main"})
            assert response.status_code == 201, response.text
            commit(ada, branch, f"of-{branch}", "x")
            received_response = ada.post(PULLS, json={"title": branch, "head": branch, "base": "main"})
            opened[style] = received_response.json()["number"]

        def merge(style: str, numbers: dict[str, int] = opened) -> int:
            return ada.post(f"{PULLS}/{numbers[style]}/merge", json={"do": style}).status_code

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(merge, styles)) == [200] * 3
        names = {item["name"] for item in ada.get(f"{REPOSITORY}/contents").json()}
        assert {f"of-{style}-{turn}" for style in styles} <= names
        shown = [ada.get(f"{PULLS}/{number}").json() for number in opened.values()]
        listed = {commit["sha"] for commit in ada.get(f"{REPOSITORY}/commits", params={"limit": 50}).json()}
        assert {item["merge_commit_sha"] for item in shown} <= listed
