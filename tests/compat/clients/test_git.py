"""The `git` program against the service: cloning, fetching, pushing and permissions."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.compat.clients.people import PASSWORD, Person

Make = Callable[[str], Person]
# One database is enough where it is git that differs.
on_sqlite = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


def test_a_clone_equals_what_was_pushed(person: Make) -> None:
    """A private repository is pushed and cloned with a password and with a token, and the API shows the commit."""
    ada, bob = person("ada"), person("bob")
    ada.make("notes", private=True)
    ada.share("notes", bob, "write")
    ada.clone("ada/notes", "work", secret=PASSWORD)
    head = ada.commit("work", "docs/a.txt", "one\n")
    ada.git("push", "--quiet", inside="work")
    listed = ada.api.get("/repos/ada/notes/commits", params={"sha": "main"}).json()
    assert listed[0]["sha"] == head
    copy = bob.clone("ada/notes", "copy")
    assert (copy / "docs" / "a.txt").read_text() == "one\n"
    theirs = bob.commit("copy", "docs/b.txt", "two\n")
    bob.git("push", "--quiet", inside="copy")
    ada.git("pull", "--quiet", "--ff-only", inside="work")
    assert ada.git("rev-parse", "HEAD", inside="work").strip() == theirs


def test_an_empty_repository_is_filled_by_the_first_push(person: Make) -> None:
    """The branch of the first push becomes the default branch, whatever its name is."""
    ada = person("ada")
    ada.make("notes", auto_init=False, default_branch="")
    ada.git("init", "--quiet", "--initial-branch=trunk", "fresh")
    ada.commit("fresh", "a.txt", "one\n")
    ada.git("push", "--quiet", ada.url("ada/notes"), "trunk", inside="fresh")
    notes = ada.api.get("/repos/ada/notes").json()
    assert (notes["empty"], notes["default_branch"]) == (False, "trunk")
    assert (ada.clone("ada/notes", "again") / "a.txt").read_text() == "one\n"


@on_sqlite
def test_a_private_repository_requires_read_access(person: Make) -> None:
    """Without credentials git prompts for a name, and a user without access gets "not found"."""
    ada, eve = person("ada"), person("eve")
    ada.make("diary", private=True)
    bare = f"{ada.service.url}/ada/diary.git"
    assert "could not read Username" in eve.git("clone", bare, fails=True)
    assert "not found" in eve.git("clone", eve.url("ada/diary"), fails=True).lower()
    assert "Authentication failed" in ada.git("clone", ada.url("ada/diary", "wrong-password"), fails=True)


@on_sqlite
def test_a_public_repository_is_read_by_everybody_and_written_by_writers(person: Make) -> None:
    """A push is refused for anonymous users and readers, without moving the branch, until they may write."""
    ada, eve = person("ada"), person("eve")
    ada.make("notes")
    eve.git("clone", "--quiet", f"{ada.service.url}/ada/notes", "anonymous")
    eve.commit("anonymous", "a.txt", "mine\n")
    before = ada.api.get("/repos/ada/notes/branches/main").json()["commit"]["id"]
    assert "could not read Username" in eve.git("push", inside="anonymous", fails=True)
    eve.git("remote", "set-url", "origin", eve.url("ada/notes"), inside="anonymous")
    assert "403" in eve.git("push", inside="anonymous", fails=True)
    ada.share("notes", eve, "read")
    assert "403" in eve.git("push", inside="anonymous", fails=True)
    assert ada.api.get("/repos/ada/notes/branches/main").json()["commit"]["id"] == before
    ada.share("notes", eve, "write")
    eve.git("push", "--quiet", inside="anonymous")


@on_sqlite
def test_a_token_is_limited_to_its_scopes(person: Make) -> None:
    """A token with read scope clones and cannot push, and one for issues cannot clone."""
    ada = person("ada")
    ada.make("notes", private=True)
    reading, elsewhere = ada.new_token("read:repository"), ada.new_token("write:issue")
    ada.clone("ada/notes", "work", secret=reading)
    ada.commit("work", "a.txt", "one\n")
    assert "403" in ada.git("push", inside="work", fails=True)
    ada.git("clone", ada.url("ada/notes", elsewhere), "other", fails=True)
    ada.git("push", "--quiet", ada.url("ada/notes"), "main", inside="work")


@on_sqlite
@pytest.mark.parametrize(
    "credentials", ["x:{}", "oauth2:{}", "x-access-token:{}", "bob:{}", "{}:", "{}:x-oauth-basic"]
)
def test_a_token_is_enough_under_any_name(person: Make, credentials: str) -> None:
    """A token works with any user name, as CI systems send it, and a wrong one is refused."""
    ada = person("ada")
    ada.make("notes", private=True)
    address = ada.url("ada/notes").replace(f"ada:{ada.token}", credentials.format(ada.token))
    ada.git("clone", "--quiet", address, "work")
    ada.commit("work", "a.txt", "one\n")
    ada.git("push", "--quiet", inside="work")
    refused = address.replace(ada.token, "0" * 40)
    assert "Authentication failed" in ada.git("clone", refused, "other", fails=True)


@on_sqlite
def test_history_is_rewritten_only_where_that_is_allowed(person: Make) -> None:
    """A force push works on an unprotected branch and is refused on a protected one."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    ada.commit("work", "a.txt", "one\n")
    ada.git("push", "--quiet", inside="work")
    ada.git("commit", "--quiet", "--amend", "--message", "Another thought", inside="work")
    assert "rejected" in ada.git("push", inside="work", fails=True)
    ada.git("push", "--quiet", "--force-with-lease", inside="work")
    rule = {"rule_name": "main", "enable_push": True}
    assert ada.api.post("/repos/ada/notes/branch_protections", json=rule).status_code == 201
    ada.git("commit", "--quiet", "--amend", "--message", "A third thought", inside="work")
    said = ada.git("push", "--force", inside="work", fails=True)
    assert "remote" in said
    assert "main" in said
    ada.git("push", "--quiet", "--force", "origin", "main:side", inside="work")


@on_sqlite
def test_a_protected_branch_takes_pushes_only_from_those_named(person: Make) -> None:
    """A writer who is not on the list of a protected branch can push to other branches only."""
    ada, bob = person("ada"), person("bob")
    ada.make("notes")
    ada.share("notes", bob, "write")
    rule = {
        "rule_name": "main",
        "enable_push": True,
        "enable_push_whitelist": True,
        "push_whitelist_usernames": ["ada"],
    }
    assert ada.api.post("/repos/ada/notes/branch_protections", json=rule).status_code == 201
    bob.clone("ada/notes", "work")
    head = bob.commit("work", "a.txt", "one\n")
    assert "main" in bob.git("push", "origin", "main", inside="work", fails=True)
    bob.git("push", "--quiet", "origin", "main:ideas/first", inside="work")
    shown = ada.api.get("/repos/ada/notes/branches/ideas%2Ffirst").json()
    assert shown["commit"]["id"] == head
    ada.clone("ada/notes", "work")
    ada.git("merge", "--quiet", "--ff-only", "origin/ideas/first", inside="work")
    ada.git("push", "--quiet", inside="work")


@on_sqlite
def test_an_archived_repository_is_read_only(person: Make) -> None:
    """An archived repository can be cloned, and a push to it gets 403 until it is unarchived."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    ada.commit("work", "a.txt", "one\n")
    ada.api.patch("/repos/ada/notes", json={"archived": True})
    assert "403" in ada.git("push", inside="work", fails=True)
    ada.clone("ada/notes", "other")
    ada.api.patch("/repos/ada/notes", json={"archived": False})
    ada.git("push", "--quiet", inside="work")


@on_sqlite
def test_branches_and_tags_are_created_and_deleted(person: Make) -> None:
    """The API shows pushed and deleted branches and tags immediately."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    ada.git("tag", "v1", inside="work")
    ada.git("tag", "--annotate", "v2", "--message", "Two", inside="work")
    ada.git("branch", "side/way", inside="work")
    ada.git("push", "--quiet", "--atomic", "origin", "side/way", "v1", "v2", inside="work")
    assert {tag["name"] for tag in ada.api.get("/repos/ada/notes/tags").json()} == {"v1", "v2"}
    names = {branch["name"] for branch in ada.api.get("/repos/ada/notes/branches").json()}
    assert names == {"main", "side/way"}
    ada.git("push", "--quiet", "origin", "--delete", "side/way", "v1", inside="work")
    assert [tag["name"] for tag in ada.api.get("/repos/ada/notes/tags").json()] == ["v2"]
    assert ada.api.get("/repos/ada/notes/branches/side/way").status_code == 404


@on_sqlite
def test_clones_can_be_shallow_or_partial_and_become_whole(person: Make) -> None:
    """Omitted commits are fetched with `--unshallow`, and omitted blobs by a checkout."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    for number in range(5):
        ada.commit("work", "a.txt", f"{number}\n")
    ada.git("push", "--quiet", inside="work")
    ada.clone("ada/notes", "shallow", "--depth=2")
    assert ada.git("rev-list", "--count", "HEAD", inside="shallow").strip() == "2"
    ada.git("fetch", "--quiet", "--unshallow", inside="shallow")
    assert ada.git("rev-list", "--count", "HEAD", inside="shallow").strip() == "6"
    partial = ada.clone("ada/notes", "partial", "--filter=blob:none", "--no-checkout")
    assert "?" in ada.git("rev-list", "--objects", "--missing=print", "HEAD", inside="partial")
    ada.git("checkout", "--quiet", "main", inside="partial")
    assert (partial / "a.txt").read_text() == "4\n"
    ada.clone("ada/notes", "single", "--single-branch", "--no-tags")


@on_sqlite
def test_a_large_push_is_streamed(person: Make) -> None:
    """A push of 12 MB, more than git sends in one request body, arrives unchanged."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    content = secrets.token_bytes(12 * 2**20)
    ada.commit("work", "large.bin", content)
    ada.git("push", "--quiet", inside="work")
    assert (ada.clone("ada/notes", "again") / "large.bin").read_bytes() == content


@on_sqlite
def test_a_renamed_repository_is_found_under_its_old_name(person: Make) -> None:
    """A renamed repository can be cloned under both names."""
    ada = person("ada")
    ada.make("notes")
    ada.api.patch("/repos/ada/notes", json={"name": "journal"})
    ada.clone("ada/notes", "work")
    ada.clone("ada/journal", "other")


@on_sqlite
def test_of_two_pushes_to_one_branch_the_second_has_to_fetch_first(person: Make) -> None:
    """The second push is rejected, and after a rebase the branch has the commits of both."""
    ada = person("ada")
    ada.make("notes")
    for place in ("one", "two"):
        ada.clone("ada/notes", place)
        ada.commit(place, f"{place}.txt", place)
    ada.git("push", "--quiet", inside="one")
    assert "fetch first" in ada.git("push", inside="two", fails=True)
    ada.git("pull", "--quiet", "--rebase", inside="two")
    ada.git("push", "--quiet", inside="two")
    result = ada.api.get("/repos/ada/notes/git/trees/main").json()["tree"]
    assert {entry["path"] for entry in result} >= {"one.txt", "two.txt"}


def test_a_concurrent_push_and_merge_lose_no_commit(person: Make) -> None:
    """The merge includes the push, or the push is rejected and succeeds after a rebase."""
    ada = person("ada")
    ada.make("notes")
    ada.clone("ada/notes", "work")
    for turn in range(3):
        ada.git("pull", "--quiet", "--rebase", inside="work")
        ada.git("push", "--quiet", "origin", f"HEAD:refs/heads/fix-{turn}", inside="work")
        body = {"content": "b25l", "branch": f"fix-{turn}", "message": "Fix it"}
        assert ada.api.post(f"/repos/ada/notes/contents/fix-{turn}.txt", json=body).status_code == 201
        pull = {"title": "Fix it", "head": f"fix-{turn}", "base": "main"}
        number = ada.api.post("/repos/ada/notes/pulls", json=pull).json()["number"]
        pushed = ada.commit("work", f"pushed-{turn}.txt", "one\n")
        with ThreadPoolExecutor(1) as pool:
            merging = pool.submit(ada.api.post, f"/repos/ada/notes/pulls/{number}/merge", json={"do": "merge"})
            said = push_or_be_refused(ada)
        assert merging.result().status_code == 200
        if said:
            assert "rejected" in said
            ada.git("pull", "--quiet", "--rebase", inside="work")
            pushed = ada.git("rev-parse", "HEAD", inside="work").strip()
            ada.git("push", "--quiet", "origin", "main", inside="work")
        commits = ada.api.get("/repos/ada/notes/commits", params={"limit": 50}).json()
        assert pushed in {commit["sha"] for commit in commits}
        tree = ada.api.get("/repos/ada/notes/git/trees/main").json()["tree"]
        assert {entry["path"] for entry in tree} >= {f"fix-{turn}.txt", f"pushed-{turn}.txt"}


def push_or_be_refused(who: Person) -> str:
    """Push, and return the error message of git if the push is refused."""
    try:
        who.git("push", "--quiet", "origin", "main", inside="work")
    except AssertionError as refusal:
        return str(refusal)
    return ""
