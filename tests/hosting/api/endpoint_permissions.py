"""Every endpoint of the API with the permissions it requires, in the order in which they are checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.hosting.permission_matrix import InOrganization, InRepository

__all__ = ["ABOUT_ORGANIZATIONS", "ABOUT_REPOSITORIES", "ELSEWHERE", "UNSCOPED", "EndpointPermission", "refusal"]

Asked = tuple[Callable[[InRepository], int | None], ...]
AskedThere = tuple[Callable[[InOrganization], int | None], ...]


@dataclass(frozen=True)
class EndpointPermission:
    """A request. Refused roles send the real request; permitted roles send one that changes nothing."""

    asked: Asked | AskedThere | str
    path: Mapping[str, str] = field(default_factory=dict)
    """Values of the path parameters; a value like `<label>` is the id of the label of the repository."""
    body: Mapping[str, object] | None = None
    harmless: Mapping[str, str] | None = None
    """Other parameters for permitted roles; without any, and without a body to invalidate, nothing is sent."""
    let: int | tuple[int, ...] | None = None
    """The status that a permitted reader gets when the requested object does not exist."""


def refusal(asked: Asked | AskedThere | str, standing: InRepository | InOrganization) -> int | None:
    """Return the status of the first check that fails."""
    assert not isinstance(asked, str)
    asks: tuple[Callable[..., int | None], ...] = asked
    return next((status for ask in asks if (status := ask(standing)) is not None), None)


def sees(who: InRepository) -> int | None:
    """Require that the role may see the repository."""
    return None if who.sees else 404


def is_known(who: InRepository | InOrganization) -> int | None:
    """Require a login."""
    return None if who.known else 401


def reads_code(who: InRepository) -> int | None:
    """Require read access to code."""
    return None if who.code >= 1 else 403


def writes_code(who: InRepository) -> int | None:
    """Require write access to code."""
    return None if who.code >= 2 else 403


def reads_releases(who: InRepository) -> int | None:
    """Require read access to releases."""
    return None if who.base >= 1 else 403


def writes_releases(who: InRepository) -> int | None:
    """Require write access to releases."""
    return None if who.base >= 2 else 403


def merges(who: InRepository) -> int | None:
    """Require write access to code, with the status of a merge."""
    return None if who.code >= 2 else 405


def finds_issues(who: InRepository) -> int | None:
    """Require read access to issues or pull requests."""
    return None if who.issues >= 1 or who.pulls >= 1 else 404


def finds_plain_issues(who: InRepository) -> int | None:
    """Require read access to issues."""
    return None if who.issues >= 1 else 404


def finds_pulls(who: InRepository) -> int | None:
    """Require read access to pull requests."""
    return None if who.pulls >= 1 else 404


def writes_issues(who: InRepository) -> int | None:
    """Require write access to issues."""
    return None if who.issues >= 2 else 403


def writes_pulls(who: InRepository) -> int | None:
    """Require write access to pull requests."""
    return None if who.pulls >= 2 else 403


def administers(who: InRepository) -> int | None:
    """Require admin access."""
    return None if who.base >= 3 else 403


def owns(who: InRepository) -> int | None:
    """Require ownership of the repository."""
    return None if who.base >= 4 else 403


def is_live(who: InRepository) -> int | None:
    """Require that the repository is not archived."""
    return 423 if who.archived else None


def links_here(who: InRepository) -> int | None:
    """Require write access to issues of a repository that is not archived; otherwise it is not found."""
    return 404 if who.archived or who.issues < 2 else None


SEE: Asked = (sees,)
KNOWN: Asked = (sees, is_known)
READ_CODE: Asked = (sees, reads_code)
WRITE_CODE: Asked = (sees, reads_code, is_live, is_known, writes_code)
READ_FILES: Asked = (sees, reads_code, is_known, writes_code)
READ_RELEASES: Asked = (sees, reads_releases)
WRITE_RELEASES: Asked = (sees, reads_releases, is_live, is_known, writes_releases)
READ_ISSUES: Asked = (sees, finds_issues)
OPEN_ISSUE: Asked = (sees, finds_plain_issues, is_known, is_live)
TAKE_PART: Asked = (sees, finds_issues, is_known, is_live)
WRITE_ISSUE: Asked = (sees, finds_issues, is_known, is_live, writes_issues)
MANAGE_ISSUES: Asked = (sees, finds_issues, is_known, writes_issues, is_live)
DELETE_ISSUE: Asked = (sees, finds_issues, is_known, administers, is_live)
LINK_ISSUES: Asked = (sees, finds_issues, is_known, links_here)
READ_PULLS: Asked = (sees, finds_pulls)
READ_PULL_CODE: Asked = (sees, finds_pulls, reads_code)
OPEN_PULL: Asked = (sees, finds_pulls, is_known, is_live)
WRITE_PULL: Asked = (sees, finds_pulls, is_known, is_live, writes_pulls)
ADMINISTER: Asked = (sees, is_known, administers)
ADMINISTER_LIVE: Asked = (sees, is_known, administers, is_live)
OWN: Asked = (sees, is_known, owns)


def about_hooks(
    path: str, asked: Asked | AskedThere | str, let: int | None = None
) -> dict[str, EndpointPermission]:
    """List the endpoints of webhooks below a path; `let` is the status if the hook belongs to another user."""
    hook = {"id": "<hook>"}
    delivery = {**hook, "delivery": "<delivery>"}
    nothing = {"id": "999999"}
    config = {"url": "https://taken.example", "content_type": "json"}
    return {
        f"GET {path}": EndpointPermission(asked),
        f"POST {path}": EndpointPermission(asked, body={"type": "gitea", "config": config}),
        f"GET {path}/{{id}}": EndpointPermission(asked, hook, let=let),
        f"PATCH {path}/{{id}}": EndpointPermission(asked, hook, {"config": config}),
        f"DELETE {path}/{{id}}": EndpointPermission(asked, hook, harmless=nothing),
        f"POST {path}/{{id}}/tests": EndpointPermission(asked, hook, harmless=nothing),
        f"POST {path}/{{id}}/resume": EndpointPermission(asked, hook, harmless=nothing),
        f"POST {path}/{{id}}/redeliver": EndpointPermission(asked, hook, {"since": "2020-01-01T00:00:00Z"}),
        f"GET {path}/{{id}}/deliveries": EndpointPermission(asked, hook, let=let),
        f"GET {path}/{{id}}/deliveries/{{delivery}}": EndpointPermission(asked, delivery, let=let),
        f"DELETE {path}/{{id}}/deliveries/{{delivery}}": EndpointPermission(asked, delivery, harmless=nothing),
        f"POST {path}/{{id}}/deliveries/{{delivery}}/redeliver": EndpointPermission(
            asked, delivery, harmless=nothing
        ),
    }


def about_reviews(path: str) -> dict[str, EndpointPermission]:
    """List the endpoints of reviews; the permissions for an existing review are tested elsewhere."""
    pull, review = {"index": "<pull>"}, {"index": "<pull>", "id": "999999"}
    one = f"{path}/{{index}}/reviews/{{id}}"
    asked = {"reviewers": ["stranger"]}
    return {
        f"GET {path}/{{index}}/reviews": EndpointPermission(READ_PULLS, pull),
        f"POST {path}/{{index}}/reviews": EndpointPermission(OPEN_PULL, pull, {"event": "APPROVED"}),
        f"GET {one}": EndpointPermission(READ_PULLS, review, let=404),
        f"POST {one}": EndpointPermission(OPEN_PULL, review, {"event": "APPROVED"}),
        f"DELETE {one}": EndpointPermission(OPEN_PULL, review, harmless=review),
        f"GET {one}/comments": EndpointPermission(READ_PULLS, review, let=404),
        f"POST {one}/dismissals": EndpointPermission(OPEN_PULL, review, {"message": "taken"}),
        f"POST {one}/undismissals": EndpointPermission(OPEN_PULL, review, harmless=review),
        f"POST {path}/{{index}}/requested_reviewers": EndpointPermission(OPEN_PULL, pull, asked),
        f"DELETE {path}/{{index}}/requested_reviewers": EndpointPermission(OPEN_PULL, pull, asked),
        f"POST {path}/comments/{{id}}/resolve": EndpointPermission(OPEN_PULL, review, harmless=review),
        f"POST {path}/comments/{{id}}/unresolve": EndpointPermission(OPEN_PULL, review, harmless=review),
    }


def about_attachments(
    path: str, owner: Mapping[str, str], nothing: Mapping[str, str]
) -> dict[str, EndpointPermission]:
    """List the endpoints of the files of an issue or a comment."""
    one, file = f"{path}/assets/{{attachment_id}}", {**owner, "attachment_id": "999999"}
    return {
        f"GET {path}/assets": EndpointPermission(READ_ISSUES, owner),
        f"POST {path}/assets": EndpointPermission(TAKE_PART, owner, harmless=nothing),
        f"GET {one}": EndpointPermission(READ_ISSUES, file, let=404),
        f"PATCH {one}": EndpointPermission(TAKE_PART, file, {"name": "taken"}),
        f"DELETE {one}": EndpointPermission(TAKE_PART, file, harmless=file),
    }


def about_reactions(path: str, to: Mapping[str, str]) -> dict[str, EndpointPermission]:
    """List the endpoints of the reactions to an issue or a comment."""
    return {
        f"GET {path}/reactions": EndpointPermission(READ_ISSUES, to),
        f"POST {path}/reactions": EndpointPermission(TAKE_PART, to, {"content": "taken"}),
        f"DELETE {path}/reactions": EndpointPermission(TAKE_PART, to, {"content": "taken"}),
    }


ISSUE = {"index": "<issue>"}
FILE, NEW_FILE = {"filepath": "README.md"}, {"filepath": "taken.txt"}
TAKEN = {"operation": "create", "path": "taken.txt", "content": ""}
ABOUT_REPOSITORIES = {
    "GET /repos/{owner}/{repo}": EndpointPermission(SEE),
    "GET /repositories/{id}": EndpointPermission(SEE, {"id": "<repository>"}),
    "PATCH /repos/{owner}/{repo}": EndpointPermission(ADMINISTER, body={"description": "taken over"}),
    "DELETE /repos/{owner}/{repo}": EndpointPermission(OWN),
    "POST /repos/{owner}/{repo}/transfer": EndpointPermission(OWN, body={"new_owner": "stranger"}),
    "POST /repos/{owner}/{repo}/transfer/accept": EndpointPermission(KNOWN),
    "POST /repos/{owner}/{repo}/transfer/reject": EndpointPermission(KNOWN),
    # Who works on it.
    "GET /user/starred/{owner}/{repo}": EndpointPermission(KNOWN, let=404),
    "PUT /user/starred/{owner}/{repo}": EndpointPermission(KNOWN),
    "DELETE /user/starred/{owner}/{repo}": EndpointPermission(KNOWN),
    "GET /repos/{owner}/{repo}/stargazers": EndpointPermission(SEE),
    "GET /repos/{owner}/{repo}/subscribers": EndpointPermission(SEE),
    "GET /repos/{owner}/{repo}/subscription": EndpointPermission(KNOWN, let=404),
    "PUT /repos/{owner}/{repo}/subscription": EndpointPermission(KNOWN),
    "DELETE /repos/{owner}/{repo}/subscription": EndpointPermission(KNOWN),
    "GET /repos/{owner}/{repo}/keys": EndpointPermission(ADMINISTER),
    "POST /repos/{owner}/{repo}/keys": EndpointPermission(ADMINISTER, body={"title": "taken", "key": "taken"}),
    "GET /repos/{owner}/{repo}/keys/{id}": EndpointPermission(ADMINISTER, {"id": "999999"}, let=404),
    "DELETE /repos/{owner}/{repo}/keys/{id}": EndpointPermission(
        ADMINISTER, {"id": "999999"}, harmless={"id": "999999"}
    ),
    "GET /repos/{owner}/{repo}/collaborators": EndpointPermission(ADMINISTER),
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}": EndpointPermission(
        ADMINISTER, {"collaborator": "reader"}
    ),
    "PUT /repos/{owner}/{repo}/collaborators/{collaborator}": EndpointPermission(
        ADMINISTER, {"collaborator": "stranger"}, {"permission": "admin"}
    ),
    "DELETE /repos/{owner}/{repo}/collaborators/{collaborator}": EndpointPermission(
        ADMINISTER, {"collaborator": "reader"}, harmless={"collaborator": "nobody-at-all"}
    ),
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission": EndpointPermission(
        KNOWN, {"collaborator": "<self>"}
    ),
    "GET /repos/{owner}/{repo}/assignees": EndpointPermission(SEE),
    # Topics.
    "POST /repos/{owner}/{repo}/generate": EndpointPermission(
        (sees, reads_code, is_known), body={"owner": "ada", "name": "a b"}
    ),
    "GET /repos/{owner}/{repo}/forks": EndpointPermission(READ_CODE),
    "POST /repos/{owner}/{repo}/forks": EndpointPermission((sees, reads_code, is_known), body={"name": "a b"}),
    "POST /repos/{owner}/{repo}/merge-upstream": EndpointPermission(WRITE_CODE, body={"branch": "none"}),
    "GET /repos/{owner}/{repo}/migration": EndpointPermission(READ_CODE, let=404),
    "POST /repos/{owner}/{repo}/mirror-sync": EndpointPermission(
        (sees, reads_code, is_known, writes_code, is_live)
    ),
    "GET /repos/{owner}/{repo}/push_mirrors": EndpointPermission(ADMINISTER),
    "POST /repos/{owner}/{repo}/push_mirrors": EndpointPermission(ADMINISTER, body={"remote_address": "taken"}),
    "POST /repos/{owner}/{repo}/push_mirrors-sync": EndpointPermission(ADMINISTER),
    "GET /repos/{owner}/{repo}/push_mirrors/{name}": EndpointPermission(ADMINISTER, {"name": "none"}, let=404),
    "DELETE /repos/{owner}/{repo}/push_mirrors/{name}": EndpointPermission(
        ADMINISTER, {"name": "none"}, harmless={"name": "none"}
    ),
    "POST /repos/{owner}/{repo}/avatar": EndpointPermission(ADMINISTER_LIVE, body={"image": "taken"}),
    "DELETE /repos/{owner}/{repo}/avatar": EndpointPermission(ADMINISTER_LIVE),
    "GET /repos/{owner}/{repo}/topics": EndpointPermission(SEE),
    "PUT /repos/{owner}/{repo}/topics": EndpointPermission(ADMINISTER_LIVE, body={"topics": ["taken"]}),
    "PUT /repos/{owner}/{repo}/topics/{topic}": EndpointPermission(
        ADMINISTER_LIVE, {"topic": "taken"}, harmless={"topic": "!!"}
    ),
    "DELETE /repos/{owner}/{repo}/topics/{topic}": EndpointPermission(
        ADMINISTER_LIVE, {"topic": "play"}, harmless={"topic": "no-such-topic"}
    ),
    **about_hooks("/repos/{owner}/{repo}/hooks", ADMINISTER),
    # Branches, their protection, tags, commits and what is in them.
    "GET /repos/{owner}/{repo}/branches": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/branches/{branch...}": EndpointPermission(READ_CODE, {"branch": "main"}),
    "POST /repos/{owner}/{repo}/branches": EndpointPermission(WRITE_CODE, body={"new_branch_name": "taken"}),
    "DELETE /repos/{owner}/{repo}/branches/{branch...}": EndpointPermission(
        WRITE_CODE, {"branch": "side"}, harmless={"branch": "no-such-branch"}
    ),
    "PATCH /repos/{owner}/{repo}/branches/{branch...}": EndpointPermission(
        WRITE_CODE, {"branch": "side"}, {"name": "taken"}
    ),
    "PUT /repos/{owner}/{repo}/branches/{branch...}": EndpointPermission(
        WRITE_CODE, {"branch": "side"}, {"new_commit_id": "main"}
    ),
    "GET /repos/{owner}/{repo}/tag_protections": EndpointPermission(ADMINISTER),
    "GET /repos/{owner}/{repo}/tag_protections/{id}": EndpointPermission(ADMINISTER, {"id": "999999"}, let=404),
    "POST /repos/{owner}/{repo}/tag_protections": EndpointPermission(ADMINISTER_LIVE, body={"name_pattern": "t"}),
    "PATCH /repos/{owner}/{repo}/tag_protections/{id}": EndpointPermission(
        ADMINISTER_LIVE, {"id": "999999"}, {"name_pattern": "t"}
    ),
    "DELETE /repos/{owner}/{repo}/tag_protections/{id}": EndpointPermission(
        ADMINISTER, {"id": "999999"}, harmless={"id": "999999"}
    ),
    "GET /repos/{owner}/{repo}/branch_protections": EndpointPermission(ADMINISTER),
    "GET /repos/{owner}/{repo}/branch_protections/{name...}": EndpointPermission(ADMINISTER, {"name": "kept"}),
    "POST /repos/{owner}/{repo}/branch_protections": EndpointPermission(ADMINISTER, body={"rule_name": "taken"}),
    "PATCH /repos/{owner}/{repo}/branch_protections/{name...}": EndpointPermission(
        ADMINISTER, {"name": "kept"}, {"enable_push": True}
    ),
    "DELETE /repos/{owner}/{repo}/branch_protections/{name...}": EndpointPermission(
        ADMINISTER, {"name": "kept"}, harmless={"name": "no-such-rule"}
    ),
    "GET /repos/{owner}/{repo}/tags": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/tags/{tag...}": EndpointPermission(READ_CODE, {"tag": "v1"}),
    "POST /repos/{owner}/{repo}/tags": EndpointPermission(WRITE_CODE, body={"tag_name": "taken"}),
    "DELETE /repos/{owner}/{repo}/tags/{tag...}": EndpointPermission(
        WRITE_CODE, {"tag": "v1"}, harmless={"tag": "no-such-tag"}
    ),
    "GET /repos/{owner}/{repo}/commits": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/commits/{sha}": EndpointPermission(READ_CODE, {"sha": "<commit>"}),
    "GET /repos/{owner}/{repo}/git/commits/{sha}": EndpointPermission(READ_CODE, {"sha": "<commit>"}),
    "GET /repos/{owner}/{repo}/ref-log": EndpointPermission(READ_CODE),
    "POST /repos/{owner}/{repo}/ref-log/{version}/restore": EndpointPermission(
        WRITE_CODE, {"version": "1"}, harmless={"version": "999999"}
    ),
    # Its files.
    "GET /repos/{owner}/{repo}/contents": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/contents/{filepath...}": EndpointPermission(READ_CODE, FILE),
    "GET /repos/{owner}/{repo}/contents-ext": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/contents-ext/{filepath...}": EndpointPermission(READ_CODE, FILE),
    "GET /repos/{owner}/{repo}/file-contents": EndpointPermission(READ_CODE, let=400),
    "POST /repos/{owner}/{repo}/file-contents": EndpointPermission(READ_FILES, body={"files": ["README.md"]}),
    "GET /repos/{owner}/{repo}/raw/{filepath...}": EndpointPermission(READ_CODE, FILE),
    "GET /repos/{owner}/{repo}/media/{filepath...}": EndpointPermission(READ_CODE, FILE),
    "GET /repos/{owner}/{repo}/archive/{archive...}": EndpointPermission(READ_CODE, {"archive": "main.zip"}),
    "GET /repos/{owner}/{repo}/tarball/{ref...}": EndpointPermission(READ_CODE, {"ref": "main"}),
    "GET /repos/{owner}/{repo}/zipball/{ref...}": EndpointPermission(READ_CODE, {"ref": "main"}),
    "GET /repos/{owner}/{repo}/bundle/{ref...}": EndpointPermission(READ_CODE, {"ref": "main"}),
    "GET /repos/{owner}/{repo}/editorconfig/{filepath...}": EndpointPermission(READ_CODE, FILE, let=404),
    "POST /repos/{owner}/{repo}/diffpatch": EndpointPermission(WRITE_CODE, body={"content": "no patch"}),
    "POST /repos/{owner}/{repo}/contents": EndpointPermission(WRITE_CODE, body={"files": [TAKEN]}),
    "POST /repos/{owner}/{repo}/contents/{filepath...}": EndpointPermission(WRITE_CODE, NEW_FILE, {"content": ""}),
    "PUT /repos/{owner}/{repo}/contents/{filepath...}": EndpointPermission(WRITE_CODE, NEW_FILE, {"content": ""}),
    "DELETE /repos/{owner}/{repo}/contents/{filepath...}": EndpointPermission(WRITE_CODE, FILE, {"sha": "0" * 40}),
    "PUT /repos/{owner}/{repo}/raw/{filepath...}": EndpointPermission(
        WRITE_CODE, NEW_FILE, harmless={"filepath": ".git/x"}
    ),
    "GET /repos/{owner}/{repo}/languages": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/issue_config": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/issue_config/validate": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/issue_templates": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/compare/{basehead...}": EndpointPermission(READ_CODE, {"basehead": "main...side"}),
    "GET /repos/{owner}/{repo}/commits/{ref...}/statuses": EndpointPermission(READ_CODE, {"ref": "main"}),
    "GET /repos/{owner}/{repo}/commits/{ref...}/status": EndpointPermission(READ_CODE, {"ref": "main"}),
    "GET /repos/{owner}/{repo}/statuses/{sha}": EndpointPermission(READ_CODE, {"sha": "main"}),
    "POST /repos/{owner}/{repo}/statuses/{sha}": EndpointPermission(
        WRITE_CODE, {"sha": "main"}, {"state": "success"}
    ),
    "GET /repos/{owner}/{repo}/git/tags/{sha}": EndpointPermission(READ_CODE, {"sha": "<tag>"}),
    "GET /repos/{owner}/{repo}/git/refs": EndpointPermission(READ_CODE),
    "GET /repos/{owner}/{repo}/git/refs/{ref...}": EndpointPermission(READ_CODE, {"ref": "heads/main"}),
    "GET /repos/{owner}/{repo}/git/trees/{sha...}": EndpointPermission(READ_CODE, {"sha": "<tree>"}),
    "GET /repos/{owner}/{repo}/git/blobs/{sha}": EndpointPermission(READ_CODE, {"sha": "<blob>"}),
    # Releases.
    "GET /repos/{owner}/{repo}/releases": EndpointPermission(READ_RELEASES),
    "POST /repos/{owner}/{repo}/releases": EndpointPermission(WRITE_RELEASES, body={"tag_name": "v9"}),
    "GET /repos/{owner}/{repo}/releases/latest": EndpointPermission(READ_RELEASES, let=404),
    "GET /repos/{owner}/{repo}/releases/tags/{tag...}": EndpointPermission(READ_RELEASES, {"tag": "v0"}, let=404),
    "DELETE /repos/{owner}/{repo}/releases/tags/{tag...}": EndpointPermission(
        WRITE_RELEASES, {"tag": "v0"}, harmless={"tag": "nowhere"}
    ),
    "GET /repos/{owner}/{repo}/releases/{id}": EndpointPermission(READ_RELEASES, {"id": "1"}, let=404),
    "PATCH /repos/{owner}/{repo}/releases/{id}": EndpointPermission(WRITE_RELEASES, {"id": "1"}, {"name": "x"}),
    "GET /repos/{owner}/{repo}/releases/{id}/assets": EndpointPermission(READ_RELEASES, {"id": "1"}, let=404),
    "POST /repos/{owner}/{repo}/releases/{id}/assets": EndpointPermission(
        WRITE_RELEASES, {"id": "1"}, harmless={"id": "999999"}
    ),
    "GET /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}": EndpointPermission(
        READ_RELEASES, {"id": "1", "attachment_id": "1"}, let=404
    ),
    "PATCH /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}": EndpointPermission(
        WRITE_RELEASES, {"id": "1", "attachment_id": "1"}, {"name": "x"}
    ),
    "DELETE /repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}": EndpointPermission(
        WRITE_RELEASES, {"id": "1", "attachment_id": "1"}, harmless={"id": "999999"}
    ),
    "DELETE /repos/{owner}/{repo}/releases/{id}": EndpointPermission(
        WRITE_RELEASES, {"id": "1"}, harmless={"id": "999999"}
    ),
    # Issues.
    "GET /repos/{owner}/{repo}/issues": EndpointPermission(READ_ISSUES),
    "POST /repos/{owner}/{repo}/issues": EndpointPermission(OPEN_ISSUE, body={"title": "Mine"}),
    "GET /repos/{owner}/{repo}/issues/{index}": EndpointPermission(READ_ISSUES, ISSUE),
    "PATCH /repos/{owner}/{repo}/issues/{index}": EndpointPermission(WRITE_ISSUE, ISSUE, {"title": "Taken over"}),
    "DELETE /repos/{owner}/{repo}/issues/{index}": EndpointPermission(
        DELETE_ISSUE, ISSUE, harmless={"index": "999"}
    ),
    "POST /repos/{owner}/{repo}/issues/{index}/deadline": EndpointPermission(
        WRITE_ISSUE, ISSUE, {"due_date": "2030-01-01T00:00:00Z"}
    ),
    "PUT /repos/{owner}/{repo}/issues/{index}/lock": EndpointPermission(
        WRITE_ISSUE, ISSUE, {"lock_reason": "spam"}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/lock": EndpointPermission(
        WRITE_ISSUE, ISSUE, harmless={"index": "999"}
    ),
    "GET /repos/{owner}/{repo}/issues/{index}/timeline": EndpointPermission(READ_ISSUES, ISSUE),
    "GET /repos/{owner}/{repo}/issues/comments": EndpointPermission(READ_ISSUES),
    "GET /repos/{owner}/{repo}/issues/{index}/comments": EndpointPermission(READ_ISSUES, ISSUE),
    "POST /repos/{owner}/{repo}/issues/{index}/comments": EndpointPermission(TAKE_PART, ISSUE, {"body": "Me too"}),
    "GET /repos/{owner}/{repo}/issues/comments/{id}": EndpointPermission(READ_ISSUES, {"id": "<comment>"}),
    "PATCH /repos/{owner}/{repo}/issues/comments/{id}": EndpointPermission(
        WRITE_ISSUE, {"id": "<comment>"}, {"body": "No"}
    ),
    "DELETE /repos/{owner}/{repo}/issues/comments/{id}": EndpointPermission(
        WRITE_ISSUE, {"id": "<comment>"}, harmless={"id": "999999"}
    ),
    **about_attachments("/repos/{owner}/{repo}/issues/{index}", {"index": "<issue>"}, {"index": "999"}),
    **about_attachments("/repos/{owner}/{repo}/issues/comments/{id}", {"id": "<comment>"}, {"id": "999999"}),
    **about_reactions("/repos/{owner}/{repo}/issues/{index}", {"index": "<issue>"}),
    **about_reactions("/repos/{owner}/{repo}/issues/comments/{id}", {"id": "<comment>"}),
    "GET /repos/{owner}/{repo}/teams": EndpointPermission(KNOWN, let=(404, 405)),
    "GET /repos/{owner}/{repo}/teams/{team}": EndpointPermission(KNOWN, {"team": "nobody"}, let=(404, 405)),
    "PUT /repos/{owner}/{repo}/teams/{team}": EndpointPermission(KNOWN, {"team": "nobody"}),
    "DELETE /repos/{owner}/{repo}/teams/{team}": EndpointPermission(KNOWN, {"team": "nobody"}),
    "GET /repos/{owner}/{repo}/notifications": EndpointPermission(KNOWN),
    "PUT /repos/{owner}/{repo}/notifications": EndpointPermission(KNOWN),
    "GET /repos/{owner}/{repo}/git/notes/{sha}": EndpointPermission(READ_CODE, {"sha": "0" * 40}, let=404),
    "GET /repos/{owner}/{repo}/issues/pinned": EndpointPermission((sees, finds_plain_issues)),
    "GET /repos/{owner}/{repo}/pulls/pinned": EndpointPermission(READ_PULLS),
    "GET /repos/{owner}/{repo}/new_pin_allowed": EndpointPermission(READ_ISSUES),
    "POST /repos/{owner}/{repo}/issues/{index}/pin": EndpointPermission(
        DELETE_ISSUE, ISSUE, harmless={"index": "999"}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/pin": EndpointPermission(
        DELETE_ISSUE, ISSUE, harmless={"index": "999"}
    ),
    "PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}": EndpointPermission(
        DELETE_ISSUE, {**ISSUE, "position": "1"}, harmless={"index": "999", "position": "1"}
    ),
    "GET /repos/{owner}/{repo}/issues/{index}/subscriptions": EndpointPermission(READ_ISSUES, ISSUE),
    "GET /repos/{owner}/{repo}/issues/{index}/subscriptions/check": EndpointPermission(
        (sees, finds_issues, is_known), ISSUE
    ),
    "PUT /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}": EndpointPermission(
        (sees, finds_issues, is_known), {**ISSUE, "user": "writer"}, harmless={"index": "999", "user": "writer"}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/subscriptions/{user}": EndpointPermission(
        (sees, finds_issues, is_known), {**ISSUE, "user": "writer"}, harmless={"index": "999", "user": "writer"}
    ),
    "POST /repos/{owner}/{repo}/issues/{index}/assignees": EndpointPermission(
        WRITE_ISSUE, ISSUE, {"assignees": ["writer"]}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/assignees": EndpointPermission(
        WRITE_ISSUE, ISSUE, {"assignees": ["owner"]}
    ),
    # What they depend on.
    "GET /repos/{owner}/{repo}/issues/{index}/dependencies": EndpointPermission(READ_ISSUES, ISSUE),
    "GET /repos/{owner}/{repo}/issues/{index}/dependencies/graph": EndpointPermission(READ_ISSUES, ISSUE),
    "POST /repos/{owner}/{repo}/issues/{index}/dependencies": EndpointPermission(LINK_ISSUES, ISSUE, {"index": 1}),
    "PUT /repos/{owner}/{repo}/issues/{index}/dependencies": EndpointPermission(
        LINK_ISSUES, ISSUE, {"dependencies": []}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/dependencies": EndpointPermission(
        LINK_ISSUES, ISSUE, {"index": 1}
    ),
    "GET /repos/{owner}/{repo}/issues/{index}/blocks": EndpointPermission(READ_ISSUES, ISSUE),
    "POST /repos/{owner}/{repo}/issues/{index}/blocks": EndpointPermission(LINK_ISSUES, ISSUE, {"index": 1}),
    "DELETE /repos/{owner}/{repo}/issues/{index}/blocks": EndpointPermission(LINK_ISSUES, ISSUE, {"index": 1}),
    # Labels and milestones.
    "GET /repos/{owner}/{repo}/issues/{index}/labels": EndpointPermission(READ_ISSUES, ISSUE),
    "POST /repos/{owner}/{repo}/issues/{index}/labels": EndpointPermission(
        WRITE_ISSUE, ISSUE, {"labels": ["bug"]}
    ),
    "PUT /repos/{owner}/{repo}/issues/{index}/labels": EndpointPermission(WRITE_ISSUE, ISSUE, {"labels": []}),
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels": EndpointPermission(
        WRITE_ISSUE, ISSUE, harmless={"index": "999"}
    ),
    "DELETE /repos/{owner}/{repo}/issues/{index}/labels/{label}": EndpointPermission(
        WRITE_ISSUE, {**ISSUE, "label": "<label>"}, harmless={"index": "999"}
    ),
    "GET /repos/{owner}/{repo}/labels": EndpointPermission(READ_ISSUES),
    "POST /repos/{owner}/{repo}/labels": EndpointPermission(
        MANAGE_ISSUES, body={"name": "taken", "color": "#000000"}
    ),
    "GET /repos/{owner}/{repo}/labels/{id}": EndpointPermission(READ_ISSUES, {"id": "<label>"}),
    "PATCH /repos/{owner}/{repo}/labels/{id}": EndpointPermission(
        MANAGE_ISSUES, {"id": "<label>"}, {"name": "taken"}
    ),
    "DELETE /repos/{owner}/{repo}/labels/{id}": EndpointPermission(
        MANAGE_ISSUES, {"id": "<label>"}, harmless={"id": "999999"}
    ),
    "GET /repos/{owner}/{repo}/milestones": EndpointPermission(READ_ISSUES),
    "POST /repos/{owner}/{repo}/milestones": EndpointPermission(MANAGE_ISSUES, body={"title": "taken"}),
    "GET /repos/{owner}/{repo}/milestones/{id}": EndpointPermission(READ_ISSUES, {"id": "<milestone>"}),
    "PATCH /repos/{owner}/{repo}/milestones/{id}": EndpointPermission(
        MANAGE_ISSUES, {"id": "<milestone>"}, {"title": "taken"}
    ),
    "DELETE /repos/{owner}/{repo}/milestones/{id}": EndpointPermission(
        MANAGE_ISSUES, {"id": "<milestone>"}, harmless={"id": "999999"}
    ),
    # Pull requests, as far as they are issues.
    "GET /repos/{owner}/{repo}/reviewers": EndpointPermission(READ_PULLS),
    **about_reviews("/repos/{owner}/{repo}/pulls"),
    "GET /repos/{owner}/{repo}/pulls": EndpointPermission(READ_PULLS),
    "POST /repos/{owner}/{repo}/pulls": EndpointPermission(
        OPEN_PULL, body={"title": "Mine", "head": "side", "base": "main"}
    ),
    "GET /repos/{owner}/{repo}/pulls/{index}": EndpointPermission(READ_PULLS, {"index": "<pull>"}),
    "GET /repos/{owner}/{repo}/pulls/{base}/{head}": EndpointPermission(
        READ_PULLS, {"base": "main", "head": "side"}
    ),
    "GET /repos/{owner}/{repo}/commits/{sha}/pull": EndpointPermission(READ_PULL_CODE, {"sha": "0" * 40}, let=404),
    "GET /repos/{owner}/{repo}/pulls/{index}/files": EndpointPermission(READ_PULL_CODE, {"index": "<pull>"}),
    "GET /repos/{owner}/{repo}/pulls/{index}/commits": EndpointPermission(READ_PULL_CODE, {"index": "<pull>"}),
    "GET /repos/{owner}/{repo}/pulls/{index}/merge": EndpointPermission(READ_PULLS, {"index": "<pull>"}, let=404),
    "POST /repos/{owner}/{repo}/pulls/{index}/merge": EndpointPermission(
        (*OPEN_PULL, merges), {"index": "<pull>"}, {"do": "merge"}
    ),
    "DELETE /repos/{owner}/{repo}/pulls/{index}/merge": EndpointPermission(
        OPEN_PULL, {"index": "<pull>"}, harmless={"index": "999"}
    ),
    "POST /repos/{owner}/{repo}/pulls/{index}/update": EndpointPermission(
        (*OPEN_PULL, writes_code), {"index": "<pull>"}, harmless={"index": "999"}
    ),
    "PATCH /repos/{owner}/{repo}/pulls/{index}": EndpointPermission(
        WRITE_PULL, {"index": "<pull>"}, {"title": "Taken over"}
    ),
}


def sees_it(who: InOrganization) -> int | None:
    """Require that the organization is visible to the role."""
    return 404 if who.letter == "-" else None


def belongs(who: InOrganization) -> int | None:
    """Require membership in the organization."""
    return None if who.letter in "mto" else 403


def finds_team(who: InOrganization) -> int | None:
    """Require membership in the organization, whose teams are not found by others."""
    return None if who.letter in "mto" else 404


def is_in_team(who: InOrganization) -> int | None:
    """Require membership in the team or ownership of the organization."""
    return None if who.letter in "to" else 403


def owns_it(who: InOrganization) -> int | None:
    """Require ownership of the organization."""
    return None if who.letter == "o" else 403


def is_oneself(who: InOrganization) -> int | None:
    """Require that the request is about the caller."""
    return None if who.is_owner else 403


SEE_IT: AskedThere = (sees_it,)
KNOWN_THERE: AskedThere = (sees_it, is_known)
BELONG: AskedThere = (sees_it, is_known, belongs)
OWN_IT: AskedThere = (sees_it, is_known, owns_it)
ONESELF: AskedThere = (sees_it, is_known, belongs, is_oneself)
SEE_TEAM: AskedThere = (is_known, finds_team, is_in_team)
OWN_TEAM: AskedThere = (is_known, finds_team, owns_it)
GIVE_TO_TEAM: AskedThere = (is_known, finds_team, is_in_team, owns_it)
ASK_ABOUT_ONESELF: AskedThere = (is_known, sees_it, owns_it)

TEAM = {"id": "<coders>"}
ABOUT_ORGANIZATIONS = {
    "GET /orgs/{org}": EndpointPermission(SEE_IT),
    "PATCH /orgs/{org}": EndpointPermission(OWN_IT, body={"description": "taken over"}),
    "POST /orgs/{org}/rename": EndpointPermission(OWN_IT, body={"new_name": "taken"}),
    "POST /orgs/{org}/avatar": EndpointPermission(OWN_IT, body={"image": "taken"}),
    "DELETE /orgs/{org}/avatar": EndpointPermission(OWN_IT),
    "DELETE /orgs/{org}": EndpointPermission(OWN_IT),
    "GET /orgs/{org}/repos": EndpointPermission(SEE_IT),
    "POST /orgs/{org}/repos": EndpointPermission(OWN_IT, body={"name": "taken"}),
    "GET /users/{username}/orgs/{org}/permissions": EndpointPermission(ASK_ABOUT_ONESELF, {"username": "owner"}),
    # Members.
    "GET /orgs/{org}/members": EndpointPermission(SEE_IT),
    "GET /orgs/{org}/members/{username}": EndpointPermission(KNOWN_THERE, {"username": "owner"}),
    "DELETE /orgs/{org}/members/{username}": EndpointPermission(
        OWN_IT, {"username": "triager"}, harmless={"username": "nobody-at-all"}
    ),
    "GET /orgs/{org}/public_members": EndpointPermission(SEE_IT),
    "GET /orgs/{org}/public_members/{username}": EndpointPermission(SEE_IT, {"username": "owner"}),
    # To say again what is so already changes nothing.
    "PUT /orgs/{org}/public_members/{username}": EndpointPermission(ONESELF, {"username": "owner"}, harmless={}),
    "DELETE /orgs/{org}/public_members/{username}": EndpointPermission(ONESELF, {"username": "owner"}),
    # Teams.
    "GET /orgs/{org}/teams": EndpointPermission(BELONG),
    "GET /orgs/{org}/teams/search": EndpointPermission(BELONG),
    "POST /orgs/{org}/teams": EndpointPermission(OWN_IT, body={"name": "taken", "permission": "admin"}),
    "GET /teams/{id}": EndpointPermission(SEE_TEAM, TEAM),
    "PATCH /teams/{id}": EndpointPermission(OWN_TEAM, TEAM, {"permission": "admin"}),
    "DELETE /teams/{id}": EndpointPermission(OWN_TEAM, TEAM),
    "GET /teams/{id}/members": EndpointPermission(SEE_TEAM, TEAM),
    "GET /teams/{id}/members/{username}": EndpointPermission(SEE_TEAM, {**TEAM, "username": "coder"}),
    "PUT /teams/{id}/members/{username}": EndpointPermission(
        OWN_TEAM, {**TEAM, "username": "stranger"}, harmless={"username": "nobody-at-all"}
    ),
    "DELETE /teams/{id}/members/{username}": EndpointPermission(
        OWN_TEAM, {**TEAM, "username": "coder"}, harmless={"username": "nobody-at-all"}
    ),
    "GET /teams/{id}/repos": EndpointPermission(SEE_TEAM, TEAM),
    "GET /teams/{id}/repos/{org}/{repo}": EndpointPermission(SEE_TEAM, {**TEAM, "repo": "open"}),
    "PUT /teams/{id}/repos/{org}/{repo}": EndpointPermission(
        GIVE_TO_TEAM, {**TEAM, "repo": "open"}, harmless={"repo": "no-such-repository"}
    ),
    "DELETE /teams/{id}/repos/{org}/{repo}": EndpointPermission(
        GIVE_TO_TEAM, {**TEAM, "repo": "open"}, harmless={"repo": "no-such-repository"}
    ),
    **about_hooks("/orgs/{org}/hooks", OWN_IT),
    # Labels all repositories share.
    "GET /orgs/{org}/labels": EndpointPermission(SEE_IT),
    "POST /orgs/{org}/labels": EndpointPermission(OWN_IT, body={"name": "taken", "color": "#000000"}),
    "GET /orgs/{org}/labels/{id}": EndpointPermission(SEE_IT, {"id": "<label>"}),
    "PATCH /orgs/{org}/labels/{id}": EndpointPermission(OWN_IT, {"id": "<label>"}, {"name": "taken"}),
    "DELETE /orgs/{org}/labels/{id}": EndpointPermission(OWN_IT, {"id": "<label>"}, harmless={"id": "999999"}),
}

USER = {"username": "stranger"}
# anyone; whoever is known; who gave a password, as nobody of the cast does; administrators of the service.
ELSEWHERE = {
    "GET /version": EndpointPermission("anyone"),
    "GET /gitignore/templates": EndpointPermission("anyone"),
    "GET /gitignore/templates/{name}": EndpointPermission("anyone", {"name": "none"}, let=404),
    "GET /label/templates": EndpointPermission("anyone"),
    "GET /label/templates/{name}": EndpointPermission("anyone", {"name": "none"}, let=404),
    "GET /licenses": EndpointPermission("anyone"),
    "GET /licenses/{name}": EndpointPermission("anyone", {"name": "none"}, let=404),
    "GET /swagger": EndpointPermission("anyone"),
    "GET /settings/api": EndpointPermission("anyone"),
    "GET /settings/repository": EndpointPermission("anyone"),
    "GET /settings/ui": EndpointPermission("anyone"),
    "GET /settings/attachment": EndpointPermission("anyone"),
    "GET /users/search": EndpointPermission("anyone"),
    "GET /users/{username}": EndpointPermission("anyone", USER),
    "GET /users/{username}/repos": EndpointPermission("anyone", USER),
    "GET /users/{username}/orgs": EndpointPermission("anyone", USER),
    "GET /repos/search": EndpointPermission("anyone"),
    "GET /repos/issues/search": EndpointPermission("anyone"),
    "GET /orgs": EndpointPermission("anyone"),
    "GET /user": EndpointPermission("known"),
    "GET /user/emails": EndpointPermission("known"),
    "POST /user/emails": EndpointPermission("known", body={"emails": ["taken@example.org"]}),
    "DELETE /user/emails": EndpointPermission("known", body={"emails": ["none@example.org"]}),
    "POST /user/avatar": EndpointPermission("known", body={"image": "taken"}),
    "DELETE /user/avatar": EndpointPermission("known"),
    "GET /user/gpg_keys": EndpointPermission("known"),
    "POST /user/gpg_keys": EndpointPermission("known"),
    "GET /users/{username}/gpg_keys": EndpointPermission("anyone", USER),
    "GET /user/settings": EndpointPermission("known"),
    "PATCH /user/settings": EndpointPermission("known", body={"full_name": "taken"}),
    "GET /user/repos": EndpointPermission("known"),
    "POST /user/repos": EndpointPermission("known", body={"name": "taken"}),
    "POST /repos/migrate": EndpointPermission("known", body={"clone_addr": "taken", "repo_name": "taken"}),
    "GET /user/orgs": EndpointPermission("known"),
    "GET /user/teams": EndpointPermission("known"),
    "POST /orgs": EndpointPermission("known", body={"username": "taken"}),
    "GET /notifications": EndpointPermission("known"),
    "PUT /notifications": EndpointPermission("known"),
    "GET /notifications/new": EndpointPermission("known"),
    "GET /notifications/threads/{id}": EndpointPermission("known", {"id": "999999"}, let=404),
    "PATCH /notifications/threads/{id}": EndpointPermission("known", {"id": "999999"}, harmless={"id": "999999"}),
    "POST /markdown": EndpointPermission("known", body={"Text": "taken"}),
    "POST /markdown/raw": EndpointPermission("known"),
    "POST /markup": EndpointPermission("known", body={"Text": "taken"}),
    "GET /user/starred": EndpointPermission("known"),
    "GET /user/subscriptions": EndpointPermission("known"),
    "GET /users/{username}/starred": EndpointPermission("anyone", USER),
    "GET /users/{username}/subscriptions": EndpointPermission("anyone", USER),
    "GET /user/keys": EndpointPermission("known"),
    "POST /user/keys": EndpointPermission("known", body={"title": "taken", "key": "taken"}),
    "GET /user/keys/{id}": EndpointPermission("known", {"id": "999999"}, let=404),
    "DELETE /user/keys/{id}": EndpointPermission("known", {"id": "999999"}, harmless={"id": "999999"}),
    "GET /users/{username}/keys": EndpointPermission("anyone", USER),
    "GET /token": EndpointPermission("known"),
    "DELETE /token": EndpointPermission("known"),
    "GET /users/{username}/tokens": EndpointPermission("password", USER),
    "POST /users/{username}/tokens": EndpointPermission("password", USER, {"name": "taken", "scopes": ["all"]}),
    "DELETE /users/{username}/tokens/{token}": EndpointPermission("password", {**USER, "token": "token 0"}),
    **about_hooks("/user/hooks", "known", let=404),
    **about_hooks("/admin/hooks", "admin"),
    "GET /admin/users": EndpointPermission("admin"),
    "POST /admin/users": EndpointPermission(
        "admin", body={"username": "taken", "email": "taken@example.org", "password": "taken-taken-taken"}
    ),
    "PATCH /admin/users/{username}": EndpointPermission("admin", USER, {"full_name": "taken"}),
    "DELETE /admin/users/{username}": EndpointPermission("admin", USER, harmless={"username": "nobody-at-all"}),
    "POST /admin/users/{username}/rename": EndpointPermission("admin", USER, {"new_username": "taken"}),
    "POST /admin/users/{username}/repos": EndpointPermission("admin", USER, {"name": "taken"}),
    "POST /admin/users/{username}/keys": EndpointPermission("admin", USER, {"title": "taken", "key": "taken"}),
    "DELETE /admin/users/{username}/keys/{id}": EndpointPermission(
        "admin", {**USER, "id": "999999"}, harmless={**USER, "id": "999999"}
    ),
    "GET /admin/orgs": EndpointPermission("admin"),
    "POST /admin/users/{username}/orgs": EndpointPermission("admin", USER, {"username": "taken"}),
}
UNSCOPED = {
    *("GET /version", "GET /settings/api", "GET /settings/repository", "GET /settings/ui"),
    *("GET /gitignore/templates", "GET /gitignore/templates/{name}", "GET /licenses", "GET /licenses/{name}"),
    *("GET /label/templates", "GET /label/templates/{name}"),
    *("GET /settings/attachment", "GET /token", "DELETE /token", "GET /swagger"),
}
"""What a token needs no scope for."""
