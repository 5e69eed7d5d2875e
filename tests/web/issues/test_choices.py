"""Choices and submitted values of issue forms."""

from datetime import UTC, datetime

import pytest

from holdfast.hosting.errors import InvalidField, Violation
from holdfast.hosting.store.labels import add_label, change_label
from holdfast.hosting.store.milestones import add_milestone, change_milestone
from holdfast.web.issues.choices import as_ids, end_of_day
from tests.web.issues.conftest import AT, IssueSite


def test_numbers_are_parsed_and_other_values_are_ignored() -> None:
    """Only ASCII digits of a number in range are an id; leading zeros are allowed."""
    assert as_ids(["3", "", "x", "-1", "٣", "9" * 40, "007"]) == [3, 7]


def test_a_day_ends_with_its_last_second() -> None:
    """The due time is the last second of the day in UTC; an empty field has none, and other text is invalid."""
    assert end_of_day(" 2027-02-03 ", "DueDate") == datetime(2027, 2, 3, 23, 59, 59, tzinfo=UTC)
    assert end_of_day(" ", "DueDate") is None
    with pytest.raises(InvalidField) as excinfo:
        end_of_day("soon", "DueDate")
    assert (excinfo.value.field, excinfo.value.violation) == ("DueDate", Violation.INVALID_DATE)


def test_writers_can_choose_labels_people_and_milestones(site: IssueSite) -> None:
    """Archived labels, users without write access and closed milestones are not offered."""
    database, ship = site.clients.database, site.ship
    add_label(database, ship, "bug", "ff0000")
    old = add_label(database, ship, "outdated", "00ff00")
    change_label(database, ship, old.id, archived_at=1)
    add_milestone(database, ship, site.people["ada"], "Season")
    past = add_milestone(database, ship, site.people["ada"], "Last year")
    change_milestone(database, ship, site.people["ada"], past, is_closed=True)
    text = site.browser("bob").get(f"{AT}/issues/new").text
    assert ("Season" in text, "Last year" in text) == (True, False)
    assert ("bug" in text, "outdated" in text) == (True, False)
    assert ('value="ada"' in text, 'value="bob"' in text, 'value="eve"' in text) == (True, True, False)
