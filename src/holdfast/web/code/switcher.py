"""The menu that switches to another branch or tag."""

from dataclasses import dataclass, replace
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.git import refs
from holdfast.hosting.git.refs import Ref
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import ref_lists
from holdfast.hosting.store.repositories import Repository
from holdfast.web.code.location import CodeLocation, Kind

__all__ = ["Choice", "Switcher", "choice_of", "is_linkable", "switcher"]

SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch or tag in the menu."""

    name: str
    address: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Switcher:
    """The content of the menu: the first branches and tags, and the total of each."""

    branches: list[Choice]
    branch_count: int
    tags: list[Choice]
    tag_count: int


def is_linkable(ref: Ref) -> bool:
    """Return whether a ref name can be part of a URL; git allows names that are not UTF-8."""
    try:
        ref.raw_name.decode()
    except UnicodeDecodeError:
        return False
    return refs.is_ref_name(ref.name)


def choice_of(repo: Repo, location: CodeLocation, kind: Kind, ref: Ref, page: str) -> Choice:
    """Return the link to a branch or tag; to its commit if its name is not UTF-8."""
    if is_linkable(ref):
        target = replace(location, kind=kind, ref=ref.name)
    else:
        commit = refs.commit_of(repo, ref.id) or ref.id
        target = replace(location, kind="commit", ref=commit)
    return Choice(ref.name, target.address(page), (location.kind, location.ref) == (kind, ref.name))


def switcher(app: App, repository: Repository, location: CodeLocation, page: str = "src") -> Switcher:
    """Return the content of the menu: the default branch first, then by name."""
    repo = location.repo
    branches, branch_count = ref_lists.list_branches(app, repository, limit=SHOWN)
    tags, tag_count = ref_lists.list_tags(app, repository, limit=SHOWN)
    first = refs.branch(repo, repository.default_branch)
    if first is not None:
        branches = [first, *(ref for ref in branches if ref.raw_name != first.raw_name)]
    return Switcher(
        [choice_of(repo, location, "branch", ref, page) for ref in branches],
        branch_count,
        [choice_of(repo, location, "tag", ref, page) for ref in tags],
        tag_count,
    )
