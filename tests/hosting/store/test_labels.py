"""Labels in the database: colours, exclusive scopes and labels of organizations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import ColorRefused
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.labels import Label, add_label, check_color, labels_of, labels_usable, one_per_scope
from tests.hosting.repository_helpers import make_organization, make_repository

NAMES = st.sampled_from(["a", "s/a", "s/b", "s/t/a", "s/t/b", "/a", "s/", "t/a"])


@pytest.mark.parametrize(("given", "kept"), [("#ABC", "aabbcc"), ("abc", "aabbcc"), (" #00ff0A ", "00ff0a")])
def test_a_colour_is_kept_as_six_digits(given: str, kept: str) -> None:
    """A color in any accepted notation is stored as six hexadecimal digits."""
    assert check_color(given) == kept


@pytest.mark.parametrize("given", ["", "#", "red", "#12345", "1234567", "##123", "12 345", "\uff11\uff12\uff13"])
def test_an_invalid_colour_is_refused(given: str) -> None:
    """A color of another length or with other characters, also full-width digits, is refused."""
    with pytest.raises(ColorRefused):
        check_color(given)


@given(st.lists(st.tuples(NAMES, st.booleans()), max_size=12))
def test_of_an_exclusive_scope_the_last_label_stays(chosen: list[tuple[str, bool]]) -> None:
    """Of each exclusive scope only the last label is kept, and all labels without a scope are kept."""
    labels = [
        Label(index, 1, None, name, "ffffff", "", exclusive, 0) for index, (name, exclusive) in enumerate(chosen)
    ]
    stored_labels = one_per_scope(labels)
    scopes = [label.scope for label in stored_labels if label.scope]
    assert len(scopes) == len(set(scopes))
    assert set(scopes) == {label.scope for label in labels if label.scope}
    assert [label for label in labels if not label.scope] == [label for label in stored_labels if not label.scope]
    for label in stored_labels:
        assert label.scope == "" or label == [item for item in labels if item.scope == label.scope][-1]


def test_usable_are_the_labels_of_a_repository_and_of_its_organization(database: Database, ada: Account) -> None:
    """Usable labels are sorted by name, without archived ones and those of other repositories."""
    guild = make_organization(database, "guild", ada)
    here, elsewhere = make_repository(database, guild), make_repository(database, guild, "boat")
    add_label(database, here, "wish", "ffffff")
    add_label(database, guild, "bug", "ffffff")
    add_label(database, elsewhere, "other", "ffffff")
    add_label(database, here, "old", "ffffff", archived_at=1)
    assert [label.name for label in labels_usable(database, here, limit=9)] == ["bug", "wish"]
    assert [label.name for label in labels_usable(database, here, limit=1)] == ["bug"]
    used = [label.id for label in labels_of(database, here, skip=0, limit=9)[0]]
    assert [label.name for label in labels_usable(database, here, limit=9, used=used)] == ["old", "wish", "bug"]
