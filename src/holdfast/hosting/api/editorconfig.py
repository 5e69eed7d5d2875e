"""The settings of a file in the repository's `.editorconfig`."""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.raw import RawQuery
from holdfast.hosting.git import editorconfig, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store.branch_renames import FormerBranches

__all__ = ["show_editorconfig"]

NAME: Final = ".editorconfig"
LARGEST: Final = 8 * 2**20
NONE: Final = f"object does not exist [id: , rel_path: {NAME}]"


class EditorConfigDefinition(msgspec.Struct, frozen=True):
    """The EditorConfig properties of a file; unset ones are left out."""

    charset: str | UnsetType = UNSET
    indent_style: str | UnsetType = UNSET
    indent_size: str | UnsetType = UNSET
    end_of_line: str | UnsetType = UNSET


@endpoint(
    "GET /repos/{owner}/{repo}/editorconfig/{filepath...}",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE)),
    slow=True,
)
def show_editorconfig(
    request: RequestContext, target: RepositoryAccess, filepath: str, query: RawQuery
) -> EditorConfigDefinition:
    """Show the EditorConfig properties of a file, from the `.editorconfig` in the root directory."""
    if target.repository.is_empty:
        raise ApiError(404, "repository is empty")
    repo = open_git(request.app, target)
    former = FormerBranches(request.app.database, target.repository)
    split = refs.split_ref_path(repo, query.ref, "", target.repository.default_branch, former)
    if split is None or split.commit is None:
        raise ApiError(404, "unable to find a git ref")
    entry = trees.find(repo, read_commit(repo, split.commit).tree, NAME)
    if not isinstance(entry, TreeEntry) or entry.type != "file" or entry.size >= LARGEST:
        raise ApiError(404, NONE)
    text = trees.read_blob(repo, entry.id).decode(errors="replace")
    definition = editorconfig.definition_for(text, filepath, EditorConfigDefinition.__struct_fields__)
    if definition is None:
        raise ApiError(404, f"the {NAME} has no section about {filepath}")
    return EditorConfigDefinition(**definition)
