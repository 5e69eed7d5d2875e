"""Reviews of pull requests, compared with a model."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, update

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, ReviewRefused
from holdfast.hosting.services import branch_protection, repositories, reviews
from holdfast.hosting.services.reviews import ReviewDraft, ReviewRequests
from holdfast.hosting.store import issues, protections
from holdfast.hosting.store import reviews as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Branches, Issue, NewIssue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import refs
from holdfast.hosting.store.tables import reviews as table
from tests.hosting.repository_helpers import add_commit, let_in, make_people, make_repository

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
