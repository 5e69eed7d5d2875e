"""Every rule has a check, and every check a rule."""

import pytest

from holdfast.backup.rules import RULES
from holdfast.backup.rules import rule_numbers as numbers
from holdfast.backup.rules.rule_numbers import add_rule, number_of_rule, require_checks


@pytest.fixture(autouse=True)
def _own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy the registered rules, so that a test can register others."""
    monkeypatch.setattr(numbers, "NUMBERS", dict(numbers.NUMBERS))
    monkeypatch.setattr(numbers, "DESCRIBED", set(numbers.DESCRIBED))
    monkeypatch.setattr(numbers, "CHECKED", set(numbers.CHECKED))


def test_a_rule_without_a_check_is_refused() -> None:
    """A rule is accepted once code requests its number, or if it has checks of single fields."""
    number = add_rule("boat.name", by_fields=False)
    with pytest.raises(ValueError, match=r"^no code checks the rules: boat\.name$"):
        require_checks({"boat.name"}, numbers.CHECKED & {"boat.name"})
    assert number_of_rule("boat.name") == number
    require_checks({"boat.name"}, numbers.CHECKED & {"boat.name"})
    add_rule("boat.sail", by_fields=True)
    assert "boat.sail" in numbers.CHECKED


def test_a_check_without_a_rule_is_refused() -> None:
    """A check for an id without a rule is a ValueError, so a misspelt id is found."""
    number_of_rule("boat.nmae")
    with pytest.raises(ValueError, match=r"^code checks rules that do not exist: boat\.nmae$"):
        require_checks(set(), numbers.CHECKED & {"boat.nmae"})


def test_a_new_name_gets_a_number_of_its_own() -> None:
    """A new name gets an unused number, and always the same one."""
    number = number_of_rule("boat.name")
    assert number_of_rule("boat.sail") != number == number_of_rule("boat.name")
    assert number not in {rule.number for rule in RULES}


def test_two_rules_cannot_have_the_same_id() -> None:
    """A second rule with the same id is a ValueError."""
    with pytest.raises(ValueError, match=r"two rules have the id poll\.chat"):
        add_rule("poll.chat", by_fields=False)
