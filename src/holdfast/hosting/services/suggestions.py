"""Suggested changes: line comments with a replacement for their line, and applying them."""

import re
from contextlib import suppress
from html import unescape
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError, InvalidReference, NoSuchBranch, NoSuchComment, Outdated
from holdfast.hosting.git import refs
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.line_positions import file_at
from holdfast.hosting.renderer.markdown import markdown
from holdfast.hosting.services import comments, file_commits, line_comments, maintainer_edits, pull_heads
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.pull_merges import head_access
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import accounts
from holdfast.hosting.store.comments import body_version
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.line_comments import find_line_comment

__all__ = ["apply", "may_apply", "suggestion_in"]

# A fenced Markdown code block with the language `suggestion`.
FENCE: Final = re.compile(r"(?ms)^(?P<fence>`{3,})suggestion[ \t]*\n(?P<text>.*?)^(?P=fence)[ \t]*$")
# The same block in sanitized HTML: its text is escaped, so it ends at the next `<`.
BLOCK: Final = re.compile(r'<pre[^<>]*><code class="language-suggestion">([^<]*)</code></pre>')
# Only this many characters of a comment are searched.
LONGEST: Final = 65_536


def suggestion_in(body: str) -> str | None:
    """Return the suggested replacement in a comment, ending with a line break; None without a suggestion.

    It is read from the rendered comment: a fence in an HTML comment, or in an element that the sanitizer removes,
    is invisible to those who apply the suggestion. With several blocks it would not be clear which is applied.
    """
    text = body[:LONGEST].replace("\r\n", "\n")
    if FENCE.search(text) is None:
        return None
    blocks = BLOCK.findall(markdown(text, most=LONGEST))
    return unescape(blocks[0]) if len(blocks) == 1 else None


def with_line(content: bytes, line: int, text: str) -> bytes:
    """Return the content of a file with a line replaced; its line ending is kept."""
    lines = split_lines(content) or [b""]
    old = lines[line - 1]
    ending = b"\r\n" if old.endswith(b"\r\n") else b"\n" if old.endswith(b"\n") else b""
    new = text.encode().replace(b"\n", ending or b"\n")
    lines[line - 1] = new.removesuffix(b"\n") if not ending else new
    return b"".join(lines)


def split_lines(content: bytes) -> list[bytes]:
    """Split at line feeds only, as git does."""
    return [part for part in re.split(rb"(?<=\n)", content) if part]


def may_apply(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> bool:
    """Return whether the actor may commit suggestions to the head branch, which may be in a fork."""
    try:
        access.require_unarchived(target)
        source = head_access(app, actor, target, issue)
        maintainer_edits.require_branch_write(app, actor, source, issue.head_branch)
        access.require_unarchived(source)
    except HostingError:
        return False
    return True


def apply(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, comment_id: int, *, version: str = ""
) -> str:
    """Commit the suggestion in a line comment to the head branch, and return the path of the file.

    The author of the comment is named as co-author, and the conversation is resolved. Raises `Outdated` when the
    line has changed since, or if a version is given and the comment is not of it any more.
    """
    user = access.require_login(actor)
    access.require_unarchived(target)
    access.require_read(target, Unit.CODE)
    place, comment_issue = find_line_comment(app.database, target.repository, comment_id)
    if comment_issue.id != issue.id:
        raise NoSuchComment("not found")
    comment, _ = comments.find(app, target, comment_id)
    if version not in {"", body_version(comment.body)}:
        raise Outdated("the suggestion was changed in the meantime; look at it again before you apply it")
    text = suggestion_in(comment.body)
    if text is None or place.is_old_side:
        raise InvalidReference("Suggestion", "the comment suggests no change")
    if issue.is_closed:
        raise Outdated("the pull request is closed")
    source = head_access(app, actor, target, issue)
    maintainer_edits.require_branch_write(app, actor, source, issue.head_branch)
    is_fork = source.repository.id != target.repository.id
    repo = open_latest(app, source)
    head = refs.branch(repo, issue.head_branch)
    if head is None:
        raise NoSuchBranch(source.repository.id, issue.head_branch)
    if is_fork and head.id != issue.head_sha:
        # The base repository gets the commits of a push to the fork soon after it.
        raise Outdated("the head branch was updated just now; reload the page")
    position = line_comments.current_positions(app, target, issue, [place], head.id).get(comment_id)
    file = None if position is None or not position.line else file_at(repo, head.id, position.path)
    if position is None or file is None or file.content is None or not file.has_line(position.line):
        raise Outdated("the line of this suggestion has changed")
    content = with_line(file.content, position.line, text)
    if content == file.content:
        raise Outdated("the suggestion was applied already")
    author = None
    if comment.author_id is not None and comment.author_id != user.id:
        with app.database.read() as connection:
            author = accounts.accounts_by_id(connection, [comment.author_id]).get(comment.author_id)
    message = f"Apply suggestion to {file.path}"
    if author is not None:
        message += f"\n\nCo-authored-by: {commit_name(author)} <{commit_email(author)}>"
    change = FileChange(
        operation="update",
        path=file.path,
        from_path=file.path,
        content=FileContent(content),
        sha=file.blob_id,
    )
    file_commit = FileCommit(changes=[change], message=message, branch=issue.head_branch)
    file_commits.commit(app, actor, source, file_commit)
    if is_fork:
        # The background task follows the fork too.
        with suppress(HostingError, OSError):
            pull_heads.follow(app, issue, user.id)
    if place.resolved_at == 0 and access.may_edit(
        actor, target.permissions, is_pull=True, author_id=issue.author_id
    ):
        line_comments.resolve(app, actor, target, comment_id)
    return file.path
