"""The APIs that issues and releases are migrated from: Gitea's, also for Forgejo, and GitHub's.

Addresses are checked against SSRF as for webhooks, and every response is bounded. Pages are read until an empty
one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar
from urllib.parse import quote

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.services import remotes
from holdfast.hosting.services.migration_client import API, MigrationClient
from holdfast.http_client.urls import HttpUrl
from holdfast.redacted_repr import redacted

__all__ = [
    "ApiSource",
    "SourceAsset",
    "SourceComment",
    "SourceIssue",
    "SourceLabel",
    "SourceMilestone",
    "SourceRelease",
    "SourceService",
    "SourceUser",
    "open_source",
    "seconds_of",
]

SourceService = Literal["gitea", "github"]
T = TypeVar("T")
MOST_PAGES: Final = 20_000


class SourceUser(msgspec.Struct, frozen=True):
    """The author of an issue, comment or release."""

    login: str = ""


class SourceLabel(msgspec.Struct, frozen=True):
    """A label."""

    name: str
    color: str = ""
    description: str | None = None
    exclusive: bool = False


class SourceMilestone(msgspec.Struct, frozen=True):
    """A milestone."""

    title: str
    description: str | None = None
    state: str = "open"
    due_on: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None


class DependencySummary(msgspec.Struct, frozen=True):
    """The number of blockers of an issue, as GitHub counts them."""

    blocked_by: int = 0


class SourceIssue(msgspec.Struct, frozen=True):
    """An issue, or a pull request."""

    number: int
    title: str
    body: str | None = None
    user: SourceUser | None = None
    labels: list[SourceLabel] | None = None
    milestone: SourceMilestone | None = None
    assignees: list[SourceUser] | None = None
    state: str = "open"
    ref: str | None = None
    is_locked: bool = False
    locked: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None
    due_date: datetime | None = None
    pull_request: dict[str, Any] | None = None
    blocked_by_count: int | None = None
    issue_dependencies_summary: DependencySummary | None = None

    @property
    def is_pull(self) -> bool:
        """Whether it is a pull request."""
        return self.pull_request is not None


class SourceComment(msgspec.Struct, frozen=True):
    """A comment; the URL of its issue ends with the issue number."""

    body: str | None = None
    user: SourceUser | None = None
    issue_url: str = ""
    pull_request_url: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def number(self) -> int:
        """The number of the issue; 0 if unknown."""
        last = (self.issue_url or self.pull_request_url).rpartition("/")[2]
        return int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0


class SourceRepository(msgspec.Struct, frozen=True):
    """The repository of an issue."""

    full_name: str = ""


class SourceBlocker(msgspec.Struct, frozen=True):
    """An issue that blocks another one."""

    number: int
    repository: SourceRepository | None = None
    repository_url: str = ""


class SourceAsset(msgspec.Struct, frozen=True):
    """A file of a release."""

    name: str
    size: int = 0
    download_count: int = 0
    created_at: datetime | None = None
    browser_download_url: str = ""
    url: str = ""
    """The URL of the file in GitHub's API."""
    state: str = ""
    """GitHub's upload state: whether the file is complete."""

    @property
    def is_whole(self) -> bool:
        """Whether the file is complete and can be downloaded."""
        return self.state in {"", "uploaded"}


class SourceRelease(msgspec.Struct, frozen=True):
    """A release."""

    tag_name: str
    target_commitish: str | None = None
    name: str | None = None
    body: str | None = None
    draft: bool = False
    prerelease: bool = False
    created_at: datetime | None = None
    published_at: datetime | None = None
    assets: list[SourceAsset] | None = None


@redacted
@dataclass(slots=True)
class ApiSource:
    """A repository in the API of another service."""

    client: MigrationClient
    service: SourceService
    url: HttpUrl
    """The URL of the repository in the API."""
    full_name: str

    def labels(self) -> Iterator[list[SourceLabel]]:
        """Yield pages of labels."""
        return self.pages("/labels", "", SourceLabel)

    def milestones(self) -> Iterator[list[SourceMilestone]]:
        """Yield pages of milestones."""
        return self.pages("/milestones", "state=all&", SourceMilestone)

    def issues(self, *, with_pulls: bool) -> Iterator[list[SourceIssue]]:
        """Yield pages of issues, including pull requests if requested."""
        kind = "type=issues&" if self.service == "gitea" and not with_pulls else ""
        order = "sort=created&direction=asc&" if self.service == "github" else ""
        for page in self.pages("/issues", f"state=all&{kind}{order}", SourceIssue):
            yield [issue for issue in page if with_pulls or not issue.is_pull]

    def comments(self) -> Iterator[list[SourceComment]]:
        """Yield pages of the comments on all issues."""
        order = "sort=created&direction=asc&" if self.service == "github" else ""
        return self.pages("/issues/comments", order, SourceComment)

    def blockers(self, number: int) -> Iterator[list[int]]:
        """Yield pages of the numbers of an issue's blockers in this repository."""
        path = "dependencies" if self.service == "gitea" else "dependencies/blocked_by"
        for page in self.pages(f"/issues/{number}/{path}", "", SourceBlocker):
            yield [blocker.number for blocker in page if self.is_own(blocker)]

    def is_own(self, blocker: SourceBlocker) -> bool:
        """Return whether a blocker belongs to this repository."""
        if blocker.repository is not None and blocker.repository.full_name:
            return blocker.repository.full_name.casefold() == self.full_name.casefold()
        return blocker.repository_url.casefold().endswith(f"/repos/{self.full_name}".casefold())

    def releases(self) -> Iterator[list[SourceRelease]]:
        """Yield pages of releases."""
        return self.pages("/releases", "", SourceRelease)

    def pages(self, path: str, query: str, kind: type[T]) -> Iterator[list[T]]:
        """Yield the pages of a list until one is empty."""
        size = "limit=50" if self.service == "gitea" else "per_page=100"
        for number in range(1, MOST_PAGES + 1):
            content = self.read(f"{path}?{query}page={number}&{size}")
            try:
                # An empty list may also be null.
                page = msgspec.json.decode(content, type=list[kind] | None) or []  # type: ignore[valid-type]  # a type
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise RemoteFailed(f"{API} answered with something else than expected") from None
            if not page:
                return
            yield page

    def read(self, path: str) -> bytes:
        """Read a response of the API."""
        url = HttpUrl(self.url.scheme, self.url.host, self.url.port, f"{self.url.path}{path}")
        return self.client.read(self.client.request("GET", url, {"Accept": "application/json"}))


def open_source(
    app: App, service: SourceService, url: HttpUrl, *, token: str, credentials: remotes.Credentials
) -> ApiSource:
    """Return the API source of a repository, given its clone URL."""
    parts = url.path.removesuffix(".git").strip("/").split("/")
    if len(parts) < 2:
        raise RemoteFailed("the address names no owner and repository")
    owner, name = parts[-2:]
    prefix = "".join(f"/{part}" for part in parts[:-2])
    scheme, host, port = url.scheme, url.host, url.port
    if service == "gitea":
        path = f"{prefix}/api/v1"
    elif host == "github.com":
        host, path = "api.github.com", ""
    else:
        path = f"{prefix}/api/v3"
    where = HttpUrl(scheme, host, port, f"{path}/repos/{quote(owner, safe='%')}/{quote(name, safe='%')}")
    authorization = f"token {token}" if token else credentials.authorization
    return ApiSource(MigrationClient.open(app, where, authorization), service, where, f"{owner}/{name}")


def seconds_of(moment: datetime | None) -> int:
    """Return a time as a Unix timestamp; 0 for None and for the year 1, which means none."""
    if moment is None or moment.year < 1970:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
