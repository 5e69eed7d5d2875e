"""Reviews of pull requests, compared with a model."""

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, update

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    LoginRequired,
    NoSuchAccount,
    NoSuchReview,
    NoSuchTeam,
    Permission,
    RepositoryArchived,
    ReviewRefused,
)
from holdfast.hosting.services import branch_protection, repositories, reviews
from holdfast.hosting.services.reviews import ReviewDraft, ReviewRequests
from holdfast.hosting.store import issues, protections
from holdfast.hosting.store import reviews as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, Issue, NewIssue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.reviews import Review
from holdfast.hosting.store.tables import refs
from holdfast.hosting.store.tables import repositories as repository_table
from holdfast.hosting.store.tables import reviews as table
from holdfast.hosting.store.teams import team_named
from tests.hosting.repository_helpers import (
    READ,
    add_commit,
    let_in,
    make_organization,
    make_people,
    make_repository,
    make_team,
)
from tests.hosting.services.scenario import Caller, accessed

SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
Place = tuple[Repository, dict[str, Account], Issue]

RULES = (
    ProtectionRule(),
    ProtectionRule(ignore_stale_approvals=True),
    ProtectionRule(dismiss_stale_approvals=True),
)


@dataclass
class ModelReview:
    """A review of the model."""

    who: str
    state: str
    head: str
    official: bool
    id: int = 0
    dismissed: bool = False


@dataclass
class Model:
    """The model of a pull request: its author may not decide, and the decisions of writers are official."""

    head: str
    done: list[ModelReview] = field(default_factory=list)
    pending: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)

    def unofficial(self, who: str) -> None:
        """Make the reviews of a user unofficial."""
        self.done = [replace(item, official=item.official and item.who != who) for item in self.done]


PEOPLE = ("author", "writer", "keeper", "reader")
DECISIONS = ["APPROVED", "REQUEST_CHANGES"]
STEPS = st.lists(
    st.one_of(
        # Twice: what matters is what follows a decision.
        st.tuples(st.just("review"), st.just("writer"), st.sampled_from(DECISIONS)),
        st.tuples(st.just("review"), st.sampled_from(["writer", "keeper"]), st.sampled_from(DECISIONS)),
        st.tuples(
            st.just("review"),
            st.sampled_from(PEOPLE),
            st.sampled_from(["APPROVED", "REQUEST_CHANGES", "COMMENT", "PENDING"]),
        ),
        st.tuples(st.just("ask"), st.sampled_from(PEOPLE), st.just("")),
        st.tuples(st.just("withdraw"), st.sampled_from(PEOPLE), st.just("")),
        st.tuples(st.just("push"), st.just(""), st.sampled_from(["1" * 40, "2" * 40])),
        st.tuples(st.just("dismiss"), st.integers(0, 5), st.booleans()),
    ),
    min_size=5,
    max_size=12,
)


@pytest.fixture
def place(app: App) -> tuple[Repository, dict[str, Account], Issue]:
    """Create a repository with a pull request, and users of each role."""
    people = dict(zip(PEOPLE, make_people(app.database, *PEOPLE), strict=True))
    home = make_repository(app.database, people["keeper"])
    add_commit(app.database, home, "main", "fix")
    let_in(app.database, home, people["writer"], 2)
    new = NewIssue(title="p", branches=Branches("fix", "main"))
    return home, people, issues.open_issue(app.database, home, people["author"], new)


def set_head(app: App, home: Repository, head: str) -> None:
    """Move the head branch."""
    with app.database.write() as connection:
        connection.execute(
            update(refs)
            .where(refs.c.repository_id == home.id, refs.c.name == "refs/heads/fix")
            .values(target=head)
        )


def step(
    model: Model, app: App, place: tuple[Repository, dict[str, Account], Issue], one: tuple[Any, ...]
) -> None:
    """Apply one operation to the model and to the host."""
    home, people, issue = place
    kind, who, what = one

    def access_of(name: str) -> tuple[Actor, RepositoryAccess]:
        actor = Actor(people[name])
        return actor, RepositoryAccess(home, repositories.permissions_in(app, actor, home))

    if kind == "push":
        model.head = what
        set_head(app, home, what)
    elif kind == "review":
        actor, target = access_of(who)
        draft = ReviewDraft(event=what, body="b")
        decides = what in {"APPROVED", "REQUEST_CHANGES"}
        if who == "author" and decides:
            with pytest.raises(ReviewRefused):
                reviews.create(app, actor, target, issue, draft)
            return
        review = reviews.create(app, actor, target, issue, draft)
        if what == "PENDING":
            model.pending.add(who)
            return
        model.pending.discard(who)
        model.asked.discard(who)
        if decides:
            model.unofficial(who)
        model.done.append(ModelReview(who, what, model.head, decides and who in {"writer", "keeper"}, review.id))
    elif kind in {"ask", "withdraw"}:
        actor, target = access_of("author")
        asked = ReviewRequests(reviewers=[who])
        if kind == "withdraw":
            reviews.cancel_requests(app, actor, target, issue, asked)
            model.asked.discard(who)
        elif who == "author":
            with pytest.raises(ReviewRefused):
                reviews.request(app, actor, target, issue, asked)
        else:
            reviews.request(app, actor, target, issue, asked)
            if who not in model.asked:
                model.unofficial(who)
            model.asked.add(who)
    else:
        dismiss_one(model, app, place, who, back=what)


def dismiss_one(
    model: Model, app: App, place: tuple[Repository, dict[str, Account], Issue], index: int, *, back: bool
) -> None:
    """Dismiss a review, or take the dismissal back."""
    home, people, issue = place
    actor = Actor(people["keeper"])
    target = RepositoryAccess(home, repositories.permissions_in(app, actor, home))
    if index >= len(model.done):
        return
    expected = model.done[index]
    review = reviews.find(app, actor, issue, expected.id)
    decides = expected.state != "COMMENT"
    other = Actor(people["reader"])
    theirs = RepositoryAccess(home, repositories.permissions_in(app, other, home))
    with pytest.raises(Forbidden):
        reviews.undismiss(app, other, theirs, issue, review)
    if not decides:
        with pytest.raises(ReviewRefused):
            reviews.undismiss(app, actor, target, issue, review)
        return
    if back:
        reviews.undismiss(app, actor, target, issue, review)
    else:
        reviews.dismiss(app, actor, target, issue, review, message="m", priors=False)
    model.done[index] = replace(expected, dismissed=not back)


def check(model: Model, app: App, place: tuple[Repository, dict[str, Account], Issue]) -> None:
    """Compare the host with the model."""
    _, people, issue = place
    names = {account.id: name for name, account in people.items()}
    head = reviews.head_of(app, issue)
    assert head == model.head
    found_reviews, _ = store.reviews_of(app.database, issue, None, skip=0, limit=100)
    shown = sorted(
        (names[item.reviewer_id or 0], item.state, item.is_official, item.is_dismissed, item.is_stale(head))
        for item in found_reviews
        if not item.is_request
    )
    assert shown == sorted(
        (item.who, item.state, item.official, item.dismissed, item.head != model.head) for item in model.done
    )
    assert {names[item.reviewer_id or 0] for item in found_reviews if item.is_request} == model.asked
    for rule in RULES:
        needs_head = rule.ignore_stale_approvals or rule.dismiss_stale_approvals
        counting = [item for item in model.done if item.official and not item.dismissed]
        with app.database.read() as connection:
            official_reviews = store.official_reviews(connection, issue, head=head, rule=rule)
        assert {names[number] for number in official_reviews.approved} == {
            one.who for one in counting if one.state == "APPROVED" and (one.head == model.head or not needs_head)
        }
        assert {names[number] for number in official_reviews.rejected} == {
            item.who for item in counting if item.state == "REQUEST_CHANGES"
        }
    for name, account in people.items():
        mine, _ = store.reviews_of(app.database, issue, account.id, skip=0, limit=100)
        assert any(item.state == "PENDING" for item in mine) is (name in model.pending)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_reviews_are_as_the_model_says(
    app: App, place: tuple[Repository, dict[str, Account], Issue], steps: list[tuple[Any, ...]]
) -> None:
    """After any sequence of reviews, requests and pushes the host agrees with the model."""
    home, _, _ = place
    with app.database.write() as connection:
        connection.execute(delete(table))
    model = Model("1" * 40)
    set_head(app, home, model.head)
    for single_step in steps:
        step(model, app, place, single_step)
        check(model, app, place)


def test_a_rule_of_the_base_branch_decides(app: App, place: tuple[Repository, dict[str, Account], Issue]) -> None:
    """The protection rule whose pattern matches the base branch applies, not one of another branch."""
    home, people, issue = place
    listed = ProtectionRule(enable_approvals_whitelist=True, approvals_users=(people["reader"].id,))
    protections.create_protection(app.database, home, "other", ProtectionRule())
    target = RepositoryAccess(home, repositories.permissions_in(app, Actor(people["keeper"]), home))
    assert branch_protection.rule_of(app.database, target.repository, issue.base_branch) is None
    protections.create_protection(app.database, home, "ma*", listed)
    assert branch_protection.rule_of(app.database, target.repository, issue.base_branch) == listed


def caller(app: App, place: Place, name: str | None) -> Caller:
    """Return the arguments of a service that a user or an anonymous client calls."""
    home, people, _ = place
    actor = ANONYMOUS if name is None else Actor(people[name])
    return app, actor, accessed(app, actor, home)


def write_review(app: App, place: Place, name: str, event: str = "APPROVED") -> Review:
    """Write a review of the pull request."""
    return reviews.create(*caller(app, place, name), place[2], ReviewDraft(event=event, body="b"))


def archive(app: App, place: Place) -> Place:
    """Archive the repository."""
    home, people, issue = place
    with app.database.write() as connection:
        connection.execute(update(repository_table).where(repository_table.c.id == home.id).values(archived_at=1))
    return repositories.show(app, Actor(people["keeper"]), home.id).repository, people, issue


@SQLITE
def test_a_review_is_deleted_by_its_reviewer_or_an_administrator(app: App, place: Place) -> None:
    """Other readers and writers, and the author of the pull request, do not delete it; nor in an archive."""
    issue = place[2]
    for deleting in ("reader", "keeper"):
        review = write_review(app, place, "reader")
        for name in ("author", "writer"):
            with pytest.raises(Forbidden) as excinfo:
                reviews.delete(*caller(app, place, name), issue, review)
            assert excinfo.value.permission == Permission.ADMIN
        with pytest.raises(LoginRequired):
            reviews.delete(*caller(app, place, None), issue, review)
        assert reviews.find(app, ANONYMOUS, issue, review.id) == review
        reviews.delete(*caller(app, place, deleting), issue, review)
        with pytest.raises(NoSuchReview):
            reviews.find(app, ANONYMOUS, issue, review.id)
    review = write_review(app, place, "reader")
    with pytest.raises(RepositoryArchived):
        reviews.delete(*caller(app, archive(app, place), "reader"), issue, review)


@SQLITE
def test_a_pending_review_is_submitted_once(app: App, place: Place) -> None:
    """It gets a decision that its user may make, and is official for a user with write access."""
    issue = place[2]
    for name, is_official in (("writer", True), ("reader", False)):
        pending = write_review(app, place, name, "PENDING")
        arguments = (*caller(app, place, name), issue)
        for event in ("", "PENDING", "NONSENSE"):
            with pytest.raises(ReviewRefused, match="Event"):
                reviews.submit(*arguments, pending, event=event, body="b")
        with pytest.raises(InvalidField):
            reviews.submit(*arguments, pending, event="APPROVED", body="x" * 65_537)
        submitted = reviews.submit(*arguments, pending, event="APPROVED", body="x" * 65_536)
        assert (submitted.state, submitted.is_official, submitted.commit_id) == (
            "APPROVED",
            is_official,
            reviews.head_of(app, issue),
        )
        with pytest.raises(ReviewRefused, match="only a pending review"):
            reviews.submit(*arguments, submitted, event="COMMENT", body="b")
    own = write_review(app, place, "author", "PENDING")
    with pytest.raises(ReviewRefused, match="approve your own pull"):
        reviews.submit(*caller(app, place, "author"), issue, own, event="APPROVED", body="b")
    assert not reviews.submit(*caller(app, place, "author"), issue, own, event="COMMENT", body="b").is_official


@SQLITE
def test_a_review_is_of_a_commit_that_exists(app: App, place: Place) -> None:
    """The head is reviewed by default; an older commit makes the review stale, and an unknown one is refused."""
    home, _, issue = place
    arguments = caller(app, place, "writer")
    older = reviews.head_of(app, issue)
    set_head(app, home, "1" * 40)
    review = reviews.create(*arguments, issue, ReviewDraft(event="APPROVED", commit_id=older))
    assert (review.commit_id, review.is_stale("1" * 40)) == (older, True)
    assert reviews.create(*arguments, issue, ReviewDraft(event="COMMENT", body="b")).commit_id == "1" * 40
    with pytest.raises(ReviewRefused, match="there is no commit 222"):
        reviews.create(*arguments, issue, ReviewDraft(event="APPROVED", commit_id="2" * 40))
    with pytest.raises(InvalidField):
        reviews.create(*arguments, issue, ReviewDraft(event="COMMENT", body="x" * 65_537))


@SQLITE
def test_those_who_bypass_the_rule_dismiss_reviews(app: App, place: Place) -> None:
    """Users and members of teams on the bypass allowlist of the base branch dismiss reviews, if it is enabled."""
    home, people, issue = place
    fleet = make_organization(app.database, "fleet", people["keeper"])
    make_team(app.database, fleet, "Crew", [people["author"]])
    review = write_review(app, place, "writer", "REQUEST_CHANGES")
    listed = ProtectionRule(
        bypass_users=(people["reader"].id,), bypass_teams=(team_named(app.database, fleet, "Crew").id,)
    )
    protection = protections.create_protection(app.database, home, "main", listed)

    def refused(*names: str) -> None:
        for name in names:
            with pytest.raises(Forbidden):
                reviews.dismiss(*caller(app, place, name), issue, review, message="m", priors=False)

    refused("reader", "author", "writer")
    enabled = msgspec.structs.replace(listed, enable_bypass_allowlist=True)
    protections.change_protection(app.database, home, protection, enabled)
    refused("writer")
    with pytest.raises(LoginRequired):
        reviews.dismiss(*caller(app, place, None), issue, review, message="m", priors=False)
    with pytest.raises(InvalidField):
        reviews.dismiss(*caller(app, place, "keeper"), issue, review, message="m" * 65_537, priors=False)
    for name in ("reader", "author", "keeper"):
        arguments = caller(app, place, name)
        assert reviews.dismiss(*arguments, issue, review, message="m", priors=False).is_dismissed
        assert not reviews.undismiss(*arguments, issue, review).is_dismissed
    with pytest.raises(RepositoryArchived):
        reviews.dismiss(*caller(app, archive(app, place), "keeper"), issue, review, message="m", priors=False)


@SQLITE
def test_a_requested_user_cancels_their_own_request(app: App, place: Place) -> None:
    """Other readers neither request reviews nor cancel requests, and nobody does in an archived repository."""
    issue = place[2]
    asked = ReviewRequests(reviewers=["Reader"])

    def requested() -> list[int | None]:
        found, _ = reviews.list_all(app, ANONYMOUS, issue, skip=0, limit=9)
        return [review.reviewer_id for review in found if review.is_request]

    for name, error in (("reader", Forbidden), (None, LoginRequired)):
        with pytest.raises(error):
            reviews.request(*caller(app, place, name), issue, asked)
    for asking, cancelling in (("author", "reader"), ("writer", "author")):
        (request,) = reviews.request(*caller(app, place, asking), issue, asked)
        assert (request.reviewer_id, request.is_official) == (place[1]["reader"].id, False)
        with pytest.raises(LoginRequired):
            reviews.cancel_requests(*caller(app, place, None), issue, asked)
        for also in (
            ReviewRequests(reviewers=["reader", "writer"]),
            ReviewRequests(reviewers=["writer"]),
            ReviewRequests(reviewers=["reader"], team_reviewers=["crew"]),
        ):
            with pytest.raises(Forbidden):
                reviews.cancel_requests(*caller(app, place, "reader"), issue, also)
        assert requested() == [request.reviewer_id]
        reviews.cancel_requests(*caller(app, place, cancelling), issue, asked)
        assert requested() == []
    (request,) = reviews.request(*caller(app, place, "author"), issue, ReviewRequests(reviewers=["writer"]))
    assert request.is_official
    archived = archive(app, place)
    for name in ("writer", "author"):
        with pytest.raises(RepositoryArchived):
            reviews.cancel_requests(*caller(app, archived, name), issue, ReviewRequests(reviewers=["writer"]))


@SQLITE
def test_reviews_are_requested_from_those_who_can_read_the_pull_request(app: App, place: Place) -> None:
    """Unknown users and teams, those without access, and more than fifty are refused with the reason."""
    _, people, _ = place
    (stranger,) = make_people(app.database, "stranger")
    fleet = make_organization(app.database, "fleet", people["keeper"])
    make_team(app.database, fleet, "Strangers", [stranger])
    ship = make_repository(app.database, fleet, "ship", is_private=True)
    make_team(app.database, fleet, "Crew", [people["reader"]], mode=READ, places=(ship,))
    add_commit(app.database, ship, "main", "fix")
    new = NewIssue(title="p", branches=Branches("fix", "main"))
    issue = issues.open_issue(app.database, ship, people["keeper"], new)
    inside = ship, people, issue
    for who, error, reason in (
        (ReviewRequests(reviewers=["nobody"]), NoSuchAccount, "nobody"),
        (ReviewRequests(reviewers=["reader", "Stranger"]), ReviewRefused, "Stranger cannot read"),
        (ReviewRequests(reviewers=["keeper"]), ReviewRefused, "poster"),
        (ReviewRequests(team_reviewers=["crew", "strangers"]), ReviewRefused, "Strangers cannot read"),
        (ReviewRequests(team_reviewers=["nobody"]), NoSuchTeam, "nobody"),
        (ReviewRequests(reviewers=["reader"] * 51), InvalidField, "Reviewers"),
        (ReviewRequests(team_reviewers=["crew"] * 51), InvalidField, "TeamReviewers"),
    ):
        with pytest.raises(error, match=reason):
            reviews.request(*caller(app, inside, "keeper"), issue, who)
        with pytest.raises(error, match=reason):
            reviews.check_reviewers(app, caller(app, inside, "keeper")[2], who, people["keeper"])
    with pytest.raises(NoSuchAccount):
        reviews.cancel_requests(*caller(app, inside, "keeper"), issue, ReviewRequests(reviewers=["nobody"]))
    with pytest.raises(ReviewRefused, match="only repositories of an organization have teams"):
        reviews.request(*caller(app, place, "author"), place[2], ReviewRequests(team_reviewers=["crew"]))
    asked = ReviewRequests(reviewers=["READER"] * 50, team_reviewers=["CREW"] * 50)
    made = reviews.request(*caller(app, inside, "keeper"), issue, asked)
    crew = team_named(app.database, fleet, "Crew").id
    assert [(one.reviewer_id, one.team_id) for one in made] == [(people["reader"].id, None), (None, crew)]
    reviews.cancel_requests(*caller(app, inside, "keeper"), issue, asked)
    assert reviews.list_all(app, ANONYMOUS, issue, skip=0, limit=9) == ([], 0)
