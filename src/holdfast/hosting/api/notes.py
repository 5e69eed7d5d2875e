"""Git notes on commits (`refs/notes/commits`)."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.commits import READING, encode_commit, found_commit
from holdfast.hosting.git import notes
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import CommitSchema

__all__ = ["show_note"]


class NoteQuery(msgspec.Struct, frozen=True):
    """Which fields of the commit to include."""

    verification: bool = True
    files: bool = True


class Note(msgspec.Struct, frozen=True):
    """The note of a commit."""

    message: str
    commit: CommitSchema


@endpoint(
    "GET /repos/{owner}/{repo}/git/notes/{sha}", scope="repository", guards=READING, refuses=(404,), slow=True
)
def show_note(request: RequestContext, target: RepositoryAccess, sha: str, query: NoteQuery) -> Note:
    """Show the note of a commit, given by id, branch or tag."""
    repo, commit = found_commit(request, target, sha)
    message = notes.note_about(repo, commit.id)
    if message is None:
        raise ApiError(404, f"there is no note about {commit.id}")
    return Note(message, encode_commit(request, target, repo, commit, files=query.files, stat=True))
