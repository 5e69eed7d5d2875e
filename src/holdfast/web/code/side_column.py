"""The side column of a repository's first page: topics, the latest release and languages."""

from dataclasses import dataclass
from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.languages import languages
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.repositories import topics_of
from holdfast.hosting.store import releases
from holdfast.hosting.store.releases import Release
from holdfast.web.code.location import CodeLocation

__all__ = ["LanguageShare", "SideColumn", "shares_of", "side_column"]

# So many languages have a colour of their own; the rest is "Other".
LANGUAGES_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """A language with its share of all bytes in percent, and where its part of the bar begins."""

    name: str
    percent: float
    start: float


@dataclass(frozen=True, slots=True)
class SideColumn:
    """What the side column shows; `latest` is None where there is no release."""

    topics: list[str]
    reads_releases: bool
    latest: Release | None
    languages: list[LanguageShare]


def shares_of(sizes: dict[str, int]) -> list[LanguageShare]:
    """Return the shares of languages, largest first; the small ones are put together."""
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


def side_column(request: RequestContext, target: RepositoryAccess, spot: CodeLocation) -> SideColumn:
    """Describe a repository beside the files of its default branch."""
    reads_releases = target.permissions.may_read(Unit.RELEASES)
    shows_latest = reads_releases and target.repository.release_count > 0
    return SideColumn(
        topics=topics_of(target.repository),
        reads_releases=reads_releases,
        latest=releases.latest_release(request.app.database, target.repository) if shows_latest else None,
        languages=shares_of(languages(spot.repo, read_commit(spot.repo, spot.commit).tree)),
    )
