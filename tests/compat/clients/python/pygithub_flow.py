"""A typical program written with PyGithub, with this service as its base URL.

`pygithub_flow.py URL NAME PASSWORD TOKEN`
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from github import Auth, Github, GithubException
from github.Repository import Repository


def client_for(url: str, auth: Auth.Auth) -> Github:
    """Create a client without delays between requests and without retries."""
    return Github(
        auth=auth,
        base_url=f"{url}/api/v1",
        per_page=2,
        seconds_between_requests=None,
        seconds_between_writes=None,
        retry=None,
    )


@contextmanager
def refused(status: int) -> Iterator[None]:
    """Expect the client's own error, with a status and the contract's body."""
    answered, said = 0, ""
    try:
        yield
    except GithubException as error:
        answered, said = error.status, error.data["message"]
    assert answered == status, f"answered with {answered} instead of {status}"
    assert said


def issues(repo: Repository) -> None:
    """Make issues with labels, a milestone and comments, and page through them."""
    label = repo.create_label("bug", "ee0701", "Something is wrong")
    milestone = repo.create_milestone("Winter", description="When it is cold")
    created = repo.create_issue("It rattles", body="At speed", assignees=[repo.owner.login])
    assert (created.number, created.state, created.user.login) == (1, "open", repo.owner.login)
    for number in range(4):
        repo.create_issue(f"Squeak {number}")
    assert repo.get_issues(state="open").totalCount == 5
    assert [issue.number for issue in repo.get_issues()] == [5, 4, 3, 2, 1]
    created.add_to_labels("bug")
    assert [label.name for label in created.get_labels()] == [label.name]
    created.create_comment("Where?")
    assert [comment.body for comment in created.get_comments()] == ["Where?"]
    created.edit(title="It hums", state="closed", milestone=milestone)
    assert repo.get_issue(1).title == "It hums"
    assert [issue.number for issue in repo.get_issues(state="closed")] == [1]
    assert [milestone.title for milestone in repo.get_milestones()] == [milestone.title]
    created.remove_from_labels("bug")
    assert repo.get_assignees().totalCount >= 1


def code(repo: Repository) -> None:
    """Look at branches, commits, trees, blobs and tags."""
    [main] = list(repo.get_branches())
    assert repo.get_branch("main").commit is not None
    commits = list(repo.get_commits())
    assert len(commits) == 1
    assert repo.get_commit(commits[0].sha).files[0].filename == "README.md"
    tree = repo.get_git_tree("main", recursive=True)
    blob = repo.get_git_blob(tree.tree[0].sha)
    assert blob.encoding == "base64"
    assert main.name == "main"
    assert repo.get_tags().totalCount == 0


def hooks(client: Github, repo: Repository) -> None:
    """List webhooks and their deliveries; the client cannot create one, since it sends no `type`."""
    with refused(422):
        repo.create_hook("web", {"url": "https://ci.example.org/h", "content_type": "json"})
    config = {"url": "https://ci.example.org/h", "content_type": "json", "secret": "oil"}
    path = f"/repos/{repo.full_name}/hooks"
    for _ in range(3):
        client.requester.requestJsonAndCheck(
            "POST", path, input={"type": "gitea", "config": config, "active": True}
        )
    results = list(repo.get_hooks())
    assert [hook.active for hook in results] == [True] * 3
    hook = repo.get_hook(results[0].id)
    assert (hook.events, hook.config["url"]) == (["push"], config["url"])
    client.requester.requestJsonAndCheck("POST", f"{path}/{hook.id}/tests")
    [told] = list(repo.get_hook_deliveries(hook.id))
    assert (told.event, told.status) == ("push", "waiting")
    assert repo.get_hook_delivery(hook.id, told.id).event == "push"
    client.requester.requestJsonAndCheck("DELETE", f"{path}/{hook.id}")
    with refused(404):
        repo.get_hook(hook.id)


def main() -> None:
    """Run all flows once."""
    url, name, _password, token = sys.argv[1:]
    client = client_for(url, Auth.Token(token))
    me = client.get_user()
    assert me.login == name
    repo = me.create_repo("engine", description="What drives it", private=True, auto_init=True)
    assert (repo.full_name, repo.private, repo.default_branch) == (f"{name}/engine", True, "main")
    with refused(409):
        me.create_repo("ENGINE")
    with refused(422):
        me.create_repo("..")
    for number in range(4):
        me.create_repo(f"wheel-{number}")
    assert len(list(me.get_repos())) == 5
    assert client.get_repo(f"{name}/engine").id == repo.id
    repo.edit(description="What drives everything")
    assert client.get_repo(f"{name}/engine").description == "What drives everything"
    code(repo)
    issues(repo)
    hooks(client, repo)
    repo.delete()
    with refused(404):
        client.get_repo(f"{name}/engine")
    with refused(401):
        client_for(url, Auth.Token("0" * 40)).get_user("owner")


if __name__ == "__main__":
    main()
