"""The side column of a repository's first page: topics, the latest release, contributors and languages."""

from dataclasses import dataclass, replace
from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit, account_visible
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.contributors import ContributorList
from holdfast.hosting.git.languages import languages
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import contributors
from holdfast.hosting.services.repositories import topics_of
from holdfast.hosting.store import accounts, releases
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.releases import Release
from holdfast.web.code.location import CodeLocation

__all__ = ["ContributorRow", "LanguageShare", "SideColumn", "shares_of", "side_column"]

# The number of languages listed with their own colour; the rest is "Other".
LANGUAGES_SHOWN: Final = 6
CONTRIBUTORS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """A language with its share of all bytes in percent, and the start of its segment of the bar."""

    name: str
    percent: float
    start: float


@dataclass(frozen=True, slots=True)
class ContributorRow:
    """A contributor; `person` is the account with their e-mail address."""

    name: str
    commits: int
    person: Account | None


@dataclass(frozen=True, slots=True)
class SideColumn:
    """The content of the side column; `latest` is None if there is no release."""

    topics: list[str]
    reads_releases: bool
    latest: Release | None
    contributors: list[ContributorRow]
    contributor_count: int
    languages: list[LanguageShare]


def shares_of(sizes: dict[str, int]) -> list[LanguageShare]:
    """Return the shares of languages, largest first; the smallest are combined."""
    total = sum(sizes.values())
    if not total:
        return []
    ordered = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
    shown, rest = ordered[:LANGUAGES_SHOWN], ordered[LANGUAGES_SHOWN:]
    if rest:
        shown = [*shown, ("Other", sum(size for _, size in rest))]
    shares, start = [], 0.0
    for name, size in shown:
        percent = 100 * size / total
        shares.append(LanguageShare(name, percent, start))
        start += percent
    return shares


def contributor_rows(request: RequestContext, contributor_list: ContributorList) -> list[ContributorRow]:
    """Return the contributors with the most commits; their accounts are looked up with one query.

    An account is listed once, also if its commits have several addresses.
    """
    first = contributor_list.first[:CONTRIBUTORS_SHOWN]
    people = (
        accounts.by_emails(request.app.database, {contributor.email for contributor in first}) if first else {}
    )
    rows: list[ContributorRow] = []
    of_account: dict[int, int] = {}
    for contributor in first:
        person = people.get(contributor.email)
        if person is None or not account_visible(request.actor, person):
            rows.append(ContributorRow(contributor.name, contributor.commits, None))
        elif person.id in of_account:
            row = rows[of_account[person.id]]
            rows[of_account[person.id]] = replace(row, commits=row.commits + contributor.commits)
        else:
            of_account[person.id] = len(rows)
            rows.append(ContributorRow(contributor.name, contributor.commits, person))
    return sorted(rows, key=lambda row: -row.commits)


def side_column(request: RequestContext, target: RepositoryAccess, location: CodeLocation) -> SideColumn:
    """Return the side column of a repository."""
    reads_releases = target.permissions.may_read(Unit.RELEASES)
    shows_latest = reads_releases and target.repository.release_count > 0
    contributor_list = contributors.list_contributors(request.app, target, location.repo, location.commit)
    rows = contributor_rows(request, contributor_list)
    addresses = min(len(contributor_list.first), CONTRIBUTORS_SHOWN)
    return SideColumn(
        topics=topics_of(target.repository),
        reads_releases=reads_releases,
        latest=releases.latest_release(request.app.database, target.repository) if shows_latest else None,
        contributors=rows,
        contributor_count=contributor_list.total - (addresses - len(rows)),
        languages=shares_of(languages(location.repo, read_commit(location.repo, location.commit).tree)),
    )
