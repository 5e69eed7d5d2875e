"""People of an archive."""

from holdfast.backup.archives import Archive


def test_people_are_listed_with_the_owner(opened: Archive) -> None:
    """By the owner's own name."""
    people = opened.people()
    assert people[0].kind == "self"
    assert people[0].name == people[0].account
    assert sum(person.kind == "self" for person in people) == 1
