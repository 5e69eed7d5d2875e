"""Tag protection: patterns, and the users and teams that rules allow."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidField, LoginRequired, RepositoryArchived
from holdfast.hosting.services import repositories, tag_protection
from holdfast.hosting.services.branch_protection import LONGEST_RULE_NAME
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.tag_protection import TagProtectionEdit, is_allowed, matches
from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import change_repository, repository_by_id
from holdfast.hosting.store.tag_protections import TagProtection
from tests.hosting.repository_helpers import make_people
from tests.hosting.services.scenario import accessed, make_scenario


@pytest.mark.parametrize(
    ("pattern", "tag", "expected"),
    [
        ("v1", "v1", True),
        ("v1", "v10", False),
        ("v*", "v1.0", True),
        ("v*", "v1/rc", True),
        ("v*", "rev", False),
        ("/^v[0-9]+/", "v1-rc", True),
        ("/^v[0-9]+$/", "v1-rc", False),
        ("/rc/", "v1-rc1", True),
        ("/rc/", "v1-c1", False),
        ("/rc/", "v1-r1", False),
        ("/a|b/", "xbx", True),
        ("/^v|rc$/", "v1.0", True),
        ("/^v|rc$/", "1.0-rc", True),
        ("/^v|rc$/", "1.0-rc2", False),
        ("/^v|rc$/", "rev", False),
        ("/^v|^w/", "w1", True),
        ("/^v|^w/", "rew", False),
        ("/^(v|w)$/", "w", True),
        ("/^(v|w)$/", "w1", False),
        ("/^(v|w)$/", "v1", False),
        ("/^[|]|\\|$/", "a|", True),
        ("/^[|]|\\|$/", "a|b", False),
        ("/1\\$/", "v1$2", True),
        ("/1\\$/", "v1", False),
        ("/rc", "v1-rc1", False),
        ("/(a(b|c)d|e)f|g/", "acdf", True),
        ("/^(a(b|c)d|e)f$|^g$/", "acd", False),
        ("/^(a(b|c)d|e)f$|^g$/", "g", True),
    ],
)
def test_a_pattern_is_a_glob_or_a_regular_expression_between_slashes(
    pattern: str, tag: str, *, expected: bool
) -> None:
    """An alternative of a regular expression that has no anchor may match anywhere in the name of the tag."""
    assert matches(pattern, tag) is expected


def rule(pattern: str, *users: Account, teams: tuple[int, ...] = ()) -> TagProtection:
    """Make a rule."""
    return TagProtection(1, pattern, tuple(user.id for user in users), teams, 0, 0)


def test_one_of_the_rules_that_match_has_to_name_the_user(database: Database) -> None:
    """A tag that no rule matches is allowed, and a rule without users or teams allows nobody.

    A deploy key may only create tags that no rule matches.
    """
    ada, bob = make_people(database, "ada", "bob")
    none: frozenset[int] = frozenset()
    assert is_allowed([rule("x*")], "v1", ada, none)
    assert not is_allowed([rule("v*")], "v1", ada, none)
    assert is_allowed([rule("v*"), rule("v1", ada)], "v1", ada, none)
    assert not is_allowed([rule("v*"), rule("v1", ada)], "v1", bob, none)
    assert is_allowed([rule("v*", teams=(7,))], "v1", bob, frozenset({7}))
    assert not is_allowed([rule("v*", teams=(7,))], "v1", bob, frozenset({8}))
    assert is_allowed([rule("v*", ada)], "v1", ada, none, by_deploy_key=True) is False
    assert is_allowed([rule("x*")], "v1", ada, none, by_deploy_key=True)


def test_an_edit_keeps_what_another_request_has_changed(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests that change different fields of a rule at the same time both succeed."""
    ada = find_user(app.database, "admin")
    repository = repositories.create(app, ada, ada, NewRepository(name="notes"))
    arguments = (app, Actor(ada), accessed(app, Actor(ada), repository))
    number = tag_protection.create(*arguments, TagProtectionEdit(name_pattern="v*")).id
    read = tag_protection.find

    def read_before_another_edit(app: App, actor: Actor, target: RepositoryAccess, number: int) -> TagProtection:
        existing = read(app, actor, target, number)
        monkeypatch.setattr(tag_protection, "find", read)
        tag_protection.edit(app, actor, target, number, TagProtectionEdit(whitelist_usernames=["admin"]))
        return existing

    monkeypatch.setattr(tag_protection, "find", read_before_another_edit)
    edited = tag_protection.edit(*arguments, number, TagProtectionEdit(name_pattern="release-*"))
    assert (edited.name_pattern, edited.users) == ("release-*", (ada.id,))


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_only_administrators_see_and_change_rules(app: App) -> None:
    """Nobody changes those of an archived repository, but its administrators see them."""
    scenario = make_scenario(app)
    owner = scenario.caller(scenario.owner)
    new = TagProtectionEdit(name_pattern="v*")
    number = tag_protection.create(*owner, new).id
    for caller, error in ((scenario.caller(None), LoginRequired), (scenario.caller(scenario.writer), Forbidden)):
        with pytest.raises(error):
            tag_protection.list_all(*caller)
        with pytest.raises(error):
            tag_protection.find(*caller, number)
        with pytest.raises(error):
            tag_protection.create(*caller, new)
        with pytest.raises(error):
            tag_protection.edit(*caller, number, new)
        with pytest.raises(error):
            tag_protection.delete(*caller, number)
    with app.database.write() as connection:
        change_repository(connection, scenario.repository, archived_at=1)
    archived = scenario.caller(scenario.owner, repository_by_id(app.database, scenario.repository.id))
    with pytest.raises(RepositoryArchived):
        tag_protection.create(*archived, new)
    with pytest.raises(RepositoryArchived):
        tag_protection.edit(*archived, number, new)
    assert [rule.id for rule in tag_protection.list_all(*archived)] == [number]


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("pattern", ["", "  ", "v" * (LONGEST_RULE_NAME + 1)])
def test_a_pattern_is_neither_empty_nor_too_long(app: App, pattern: str) -> None:
    """The longest one is accepted, and spaces around it are not part of it."""
    scenario = make_scenario(app)
    owner = scenario.caller(scenario.owner)
    with pytest.raises(InvalidField):
        tag_protection.create(*owner, TagProtectionEdit(name_pattern=pattern))
    longest = "v" * LONGEST_RULE_NAME
    made = tag_protection.create(*owner, TagProtectionEdit(name_pattern=f" {longest} "))
    assert made.name_pattern == longest
