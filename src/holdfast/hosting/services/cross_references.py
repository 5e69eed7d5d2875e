"""Cross-references: the issues and pull requests that a title, a body, a comment or a review mentions.

A text is parsed before the transaction that stores it, and mentions the issues that its page links to, so nothing
in code is a mention. That transaction adds an entry to the timeline of each. Nobody is notified, and no event is
recorded: the mentioned issue has not changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.renderer.issue_links import LinkedIssue, issue_links, title_links
from holdfast.hosting.services.closing_keywords import parse_pull_keywords
from holdfast.hosting.services.commit_references import may_note
from holdfast.hosting.store import repositories
from holdfast.hosting.store.cross_references import NO_REFERENCES, CrossReferences
from holdfast.hosting.store.issues import Issue, find_issues
from holdfast.hosting.store.repositories import Repository

__all__ = ["references_of_issue", "references_of_review", "references_of_text"]

# Issues that one text adds an entry to, the first it mentions: the transaction holds SQLite's write lock.
MOST_REFERENCES: Final = 100
# All issues that the texts of one review add an entry to, and the characters of these texts that are parsed.
MOST_OF_REVIEW: Final = 300
LONGEST_REVIEW: Final = 120_000


def references_of_text(app: App, actor: Actor, target: RepositoryAccess, text: str) -> CrossReferences:
    """Return the issues that a comment mentions and whose timelines the actor may add an entry to."""
    links = issue_links(text, place_of(target), app.root)[:MOST_REFERENCES]
    return references_to(links, find_linked(app, actor, target, links), target.repository)


def references_of_issue(
    app: App, actor: Actor, target: RepositoryAccess, title: str, body: str, *, is_pull: bool
) -> CrossReferences:
    """Return the issues that the title and the body of an issue mention, as for a comment.

    Those that a pull request closes or reopens when it is merged are marked so.
    """
    place = place_of(target)
    links = [*title_links(title, place, app.root), *issue_links(body, place, app.root)][:MOST_REFERENCES]
    actions = keyword_actions(title, body, place) if links and is_pull else {}
    return references_to(links, find_linked(app, actor, target, links), target.repository, actions)


def references_of_review(
    app: App, actor: Actor, target: RepositoryAccess, texts: Iterable[str]
) -> dict[str, CrossReferences]:
    """Return the issues that the texts of a review mention, by text, as for a comment."""
    links: dict[str, Sequence[LinkedIssue]] = {}
    left, characters = MOST_OF_REVIEW, LONGEST_REVIEW
    for text in dict.fromkeys(texts):
        characters -= len(text)
        if left <= 0 or characters < 0:
            break
        if mentioned := issue_links(text, place_of(target), app.root)[: min(left, MOST_REFERENCES)]:
            links[text] = mentioned
            left -= len(mentioned)
    linked = find_linked(app, actor, target, [link for mentioned in links.values() for link in mentioned])
    by_text = {text: references_to(mentioned, linked, target.repository) for text, mentioned in links.items()}
    return {text: references for text, references in by_text.items() if references.actions}


def place_of(target: RepositoryAccess) -> tuple[str, str]:
    """Return the owner and name of the repository that a text belongs to."""
    return target.repository.owner.name, target.repository.name


def folded(link: LinkedIssue) -> LinkedIssue:
    """Return an issue's name as it is compared."""
    owner, name, number = link
    return owner.casefold(), name.casefold(), number


def keyword_actions(title: str, body: str, place: tuple[str, str]) -> dict[LinkedIssue, str]:
    """Return what the closing keywords of a pull request do, by issue; the last word on an issue counts."""
    return {
        folded((reference.owner or place[0], reference.name or place[1], reference.number)): (
            "closes" if reference.closes else "reopens"
        )
        for reference in parse_pull_keywords(title, body)
    }


def find_linked(
    app: App, actor: Actor, target: RepositoryAccess, links: Sequence[LinkedIssue]
) -> dict[LinkedIssue, tuple[Issue, bool]]:
    """Return the issues that exist, by folded name, and whether the actor may add an entry to their timelines."""
    if not links:
        return {}
    own = target.repository
    own_name = (own.owner.name.casefold(), own.name.casefold())
    names = {folded(link)[:2] for link in links}
    places = {own_name: own}
    permissions = {own.id: target.permissions}
    if names - {own_name} and actor.user is not None:
        others = repositories.find_repositories(app.database, names - {own_name})
        grants = repositories.grants_in(app.database, actor.user, list(others.values())) if others else {}
        places |= others
        permissions |= {
            other.id: access.repository_access(actor, other, grants.get(other.id, ())) for other in others.values()
        }
    located = {folded(link): (places[folded(link)[:2]], link[2]) for link in links if folded(link)[:2] in places}
    keys = [(place.id, number) for place, number in located.values()]
    existing = find_issues(app.database, keys) if keys else {}
    return {
        name: (issue, may_note(permissions[place.id], issue, place, own))
        for name, (place, number) in located.items()
        if (issue := existing.get((place.id, number))) is not None
    }


def references_to(
    links: Sequence[LinkedIssue],
    linked: Mapping[LinkedIssue, tuple[Issue, bool]],
    own: Repository,
    actions: Mapping[LinkedIssue, str] | None = None,
) -> CrossReferences:
    """Return the references of a text; a pull request is never closed by a keyword.

    What the actor may not add an entry to is told apart: who edits the text of another author removes none.
    """
    mentioned = {name: linked[name] for name in map(folded, links) if name in linked}
    if not mentioned:
        return NO_REFERENCES
    issues = {name: issue for name, (issue, is_allowed) in mentioned.items() if is_allowed}
    return CrossReferences(
        {
            issue.id: "none" if issue.is_pull or actions is None else actions.get(name, "none")
            for name, issue in issues.items()
        },
        frozenset(issue.repository_id for issue in issues.values()) - {own.id},
        frozenset(issue.id for issue, is_allowed in mentioned.values() if not is_allowed),
    )
