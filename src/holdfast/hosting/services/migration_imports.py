"""Import of labels, milestones, issues, comments, dependencies, releases and their files from a remote API.

Numbers and timestamps are kept. The author of everything is the user who migrates; the original author's name is
stored as text, since the local account of that name may be another person's. Assignees are kept if a user of that
name can be assigned here. No webhook events are recorded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from holdfast.hosting.app import App
from holdfast.hosting.errors import ColorRefused, RemoteFailed
from holdfast.hosting.services.attachments import MOST_FILES
from holdfast.hosting.services.migration_files import fetch_release_file
from holdfast.hosting.services.migration_sources import (
    ApiSource,
    SourceAsset,
    SourceComment,
    SourceIssue,
    SourceLabel,
    SourceMilestone,
    SourceRelease,
    SourceUser,
    seconds_of,
)
from holdfast.hosting.store import assignees, imports, issue_labels, mirrors, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.labels import check_color
from holdfast.hosting.store.repositories import Repository

__all__ = ["ImportParts", "import_parts"]

T = TypeVar("T")
DEFAULT_COLOR: Final = "ededed"
LARGEST_NUMBER: Final = 10**9
MOST_PEOPLE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportParts:
    """The parts to import."""

    labels: bool = False
    milestones: bool = False
    issues: bool = False
    pull_requests: bool = False
    releases: bool = False


@dataclass(slots=True)
class Import:
    """An import in progress, with the ids of the rows imported so far."""

    app: App
    repository: Repository
    user: Account
    source: ApiSource
    labels: dict[str, int] = field(default_factory=dict)
    milestones: dict[str, int] = field(default_factory=dict)
    issues: dict[int, int] = field(default_factory=dict)
    """Issue ids by number."""
    blocked: list[int] = field(default_factory=list)
    """Numbers of issues that may have blockers."""
    blockers: dict[int, set[int]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    """Tags of the releases imported so far."""
    people: dict[str, int] = field(default_factory=dict)
    """Ids of users who can be assigned, by case-folded name."""
    done: int = 0

    def write(self, phase: str, count: int, work: Callable[[Connection], None]) -> None:
        """Write one page and the progress in one transaction."""
        self.done += count
        with self.app.database.write() as connection:
            work(connection)
            mirrors.set_progress(connection, self.repository.id, phase=phase, done=self.done)

    def add_labels(self, page: list[SourceLabel]) -> None:
        """Import a page of labels; of duplicate names the first."""
        rows: dict[str, dict[str, Any]] = {}
        for label in page:
            name = plain(label.name)
            if name and name not in self.labels:
                row = {"repository_id": self.repository.id, "name": name, "color": color_of(label.color)}
                rows.setdefault(
                    name, {**row, "description": plain(label.description), "is_exclusive": label.exclusive}
                )
        self.write(
            "labels", len(page), lambda link: self.labels.update(imports.add_labels(link, [*rows.values()]))
        )

    def add_milestones(self, page: list[SourceMilestone]) -> None:
        """Import a page of milestones."""
        rows: dict[str, dict[str, Any]] = {}
        for milestone in page:
            title = plain(milestone.title)
            if not title or title in self.milestones:
                continue
            is_closed = milestone.state == "closed"
            rows.setdefault(
                title,
                {
                    "repository_id": self.repository.id,
                    "title": title,
                    "description": plain(milestone.description),
                    "is_closed": is_closed,
                    "due_at": seconds_of(milestone.due_on),
                    "closed_at": seconds_of(milestone.closed_at) if is_closed else 0,
                    "created_at": seconds_of(milestone.created_at),
                    "updated_at": seconds_of(milestone.updated_at),
                },
            )
        self.write(
            "milestones",
            len(page),
            lambda link: self.milestones.update(imports.add_milestones(link, [*rows.values()])),
        )

    def add_issues(self, page: list[SourceIssue]) -> None:
        """Import a page of issues with their labels; a pull request becomes a closed issue."""
        new = {
            issue.number: issue
            for issue in page
            if 0 < issue.number < LARGEST_NUMBER and issue.number not in self.issues
        }

        def work(link: Connection) -> None:
            issue_ids = imports.add_issues(link, [self.issue_row(issue) for issue in new.values()])
            self.issues.update(issue_ids)
            pairs = {
                (issue_ids[number], self.labels[plain(label.name)])
                for number, issue in new.items()
                for label in issue.labels or ()
                if plain(label.name) in self.labels
            }
            issue_labels.add_rows(link, sorted(pairs))
            assigned = {
                (issue_ids[number], self.people[person.login.casefold()])
                for number, issue in new.items()
                for person in issue.assignees or ()
                if person.login.casefold() in self.people
            }
            imports.add_assignees(link, sorted(assigned))

        self.write("issues", len(page), work)
        self.blocked += [number for number, issue in new.items() if may_be_blocked(issue)]

    def issue_row(self, issue: SourceIssue) -> dict[str, Any]:
        """Return the row of an issue."""
        is_closed = issue.state == "closed" or issue.is_pull
        created = seconds_of(issue.created_at)
        title = "" if issue.milestone is None else plain(issue.milestone.title)
        return {
            "repository_id": self.repository.id,
            "number": issue.number,
            "author_id": self.user.id,
            "original_author": author_of(issue.user),
            "title": plain(issue.title) or f"#{issue.number}",
            "body": plain(issue.body),
            "ref": plain(issue.ref),
            "milestone_id": self.milestones.get(title),
            "is_closed": is_closed,
            "is_locked": issue.is_locked or issue.locked,
            "due_at": seconds_of(issue.due_date),
            "closed_at": (seconds_of(issue.closed_at) or created) if is_closed else 0,
            "created_at": created,
            "updated_at": seconds_of(issue.updated_at) or created,
        }

    def add_comments(self, page: list[SourceComment]) -> None:
        """Import a page of comments on imported issues."""
        rows = [
            {
                "issue_id": self.issues[comment.number],
                "kind": "comment",
                "author_id": self.user.id,
                "original_author": author_of(comment.user),
                "body": plain(comment.body),
                "created_at": seconds_of(comment.created_at),
                "updated_at": seconds_of(comment.updated_at),
            }
            for comment in page
            if comment.number in self.issues
        ]
        self.write("comments", len(page), lambda link: imports.add_comments(link, rows))

    def add_blockers(self, number: int, page: list[int]) -> None:
        """Import the blockers of an issue, except those that would create a cycle."""
        blockers = self.blockers.setdefault(number, set())
        new = []
        for blocker in page:
            if blocker in self.issues and blocker not in blockers and not self.leads_to(blocker, number):
                blockers.add(blocker)
                new.append(blocker)
        rows = [
            {
                "issue_id": self.issues[number],
                "blocker_id": self.issues[blocker],
                "actor_id": self.user.id,
                "created_at": self.repository.created_at,
            }
            for blocker in new
        ]
        self.write("dependencies", len(page), lambda link: imports.add_dependencies(link, rows))

    def leads_to(self, start: int, target: int) -> bool:
        """Return whether an issue is another one, or is transitively blocked by it."""
        visited, waiting = {start}, [start]
        while waiting:
            current = waiting.pop()
            if current == target:
                return True
            unvisited = self.blockers.get(current, set()) - visited
            visited |= unvisited
            waiting += unvisited
        return False

    def add_releases(self, page: list[SourceRelease]) -> None:
        """Import a page of releases, then their files."""
        rows = []
        files: dict[str, list[SourceAsset]] = {}
        for release in page:
            tag = plain(release.tag_name)
            if not tag or tag in self.tags:
                continue
            self.tags.add(tag)
            files[tag] = [asset for asset in release.assets or () if asset.is_whole]
            created = seconds_of(release.created_at)
            # Only a draft may lack its tag.
            is_draft = release.draft or f"refs/tags/{tag}" not in self.refs
            rows.append(
                {
                    "repository_id": self.repository.id,
                    "tag_name": tag,
                    "target": plain(release.target_commitish),
                    "name": plain(release.name),
                    "body": plain(release.body),
                    "is_draft": is_draft,
                    "is_prerelease": release.prerelease,
                    "author_id": self.user.id,
                    "created_at": created,
                    "published_at": 0 if is_draft else seconds_of(release.published_at) or created,
                }
            )
        ids: dict[str, int] = {}
        self.write("releases", len(page), lambda link: ids.update(imports.add_releases(link, rows)))
        for tag, assets in files.items():
            self.add_files(ids[tag], assets)

    def add_files(self, release_id: int, assets: Sequence[SourceAsset]) -> None:
        """Import the files of a release; of duplicate names the first."""
        if len(assets) > MOST_FILES:
            raise RemoteFailed(f"a release has more than {MOST_FILES} files")
        names: set[str] = set()
        for asset in assets:
            if asset.name.strip() in names:
                continue
            names.add(asset.name.strip())
            row = fetch_release_file(self.app, self.source.client, self.repository, self.user, asset)
            with self.app.database.write() as connection:
                imports.add_release_file(connection, {**row, "release_id": release_id})


def import_parts(app: App, repository: Repository, user: Account, source: ApiSource, parts: ImportParts) -> None:
    """Import the requested parts; raise `RemoteFailed` if one cannot be read."""
    new_import = Import(app, repository, user, source)
    if parts.labels:
        each(new_import, source.labels(), new_import.add_labels)
    if parts.milestones:
        each(new_import, source.milestones(), new_import.add_milestones)
    if parts.issues or parts.pull_requests:
        people, _ = assignees.assignable(app.database, repository, skip=0, limit=MOST_PEOPLE)
        new_import.people = {person.name.casefold(): person.id for person in people}
        each(new_import, source.issues(with_pulls=parts.pull_requests), new_import.add_issues)
        each(new_import, source.comments(), new_import.add_comments)
        new_import.done = 0
        for number in new_import.blocked:
            for page in source.blockers(number):
                new_import.add_blockers(number, page)
    if parts.releases:
        with app.database.read() as connection:
            new_import.refs = repository_log.read_refs(connection, repository.id)
        each(new_import, source.releases(), new_import.add_releases)
    with app.database.write() as connection:
        imports.recount(connection, repository.id)


def each(new_import: Import, pages: Iterator[list[T]], add: Callable[[list[T]], None]) -> None:
    """Import page by page, with a new progress count."""
    new_import.done = 0
    for page in pages:
        add(page)


def may_be_blocked(issue: SourceIssue) -> bool:
    """Return whether an issue may have blockers: some services return their number."""
    if issue.blocked_by_count is not None:
        return issue.blocked_by_count > 0
    if issue.issue_dependencies_summary is not None:
        return issue.issue_dependencies_summary.blocked_by > 0
    return not issue.is_pull


def plain(text: str | None) -> str:
    """Return a text without NUL characters, which PostgreSQL cannot store."""
    return (text or "").replace("\0", "")


def author_of(user: SourceUser | None) -> str:
    """Return the name of an author."""
    return "" if user is None else plain(user.login)[:255]


def color_of(text: str) -> str:
    """Return the color of a label, or the default one."""
    try:
        return check_color(text)
    except ColorRefused:
        return DEFAULT_COLOR
