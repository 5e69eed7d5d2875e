"""Resolution of identifiers to people."""

import random
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from tests.backup.archives.contact_backups import ADA, BEN, LINE, OTHER_LINE, Way, choose_identifiers, write_backup
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import import_backups
from tests.examples import examples

NUMBER: Way = {"e164": LINE["e164"]}
ADA_HERE: Way = {"aci": ADA, **NUMBER}
BEN_HERE: Way = {"aci": BEN, **NUMBER}
ADA_ALONE: Way = {"aci": ADA}


def people_after(folder: Path, *backups: list[Way]) -> dict[str, int]:
    """Import backups of successive days in every order, and count the people each identifier resolves to."""
    sources = [write_backup(folder / str(day), day, ways, random.Random(1)) for day, ways in enumerate(backups)]
    expected: list[str] | None = None
    for n, order in enumerate(permutations(sources)):
        import_backups(folder / f"{n}.db", *order)
        expected = expected or dump(folder / f"{n}.db")
        assert dump(folder / f"{n}.db") == expected
    with archives.open(folder / "0.db") as opened:
        rows = opened.connection.execute(
            "SELECT r.id, group_concat(DISTINCT i.kind || ' ' || substr(i.value, 1, 8)) FROM recipient r "
            "JOIN identity i ON i.recipient_id = r.id WHERE r.kind = 'contact' GROUP BY 1"
        ).fetchall()
        messages = dict(opened.connection.execute("SELECT chat_id, count(*) FROM message GROUP BY 1").fetchall())
    return {",".join(sorted(marks.split(","))): messages.get(number, 0) for number, marks in rows}


ADA_IS, BEN_IS, NUMBER_IS = "aci 61616161", "aci 62626262", "e164 15550101"


def test_who_is_known_by_number_is_the_first_who_is_seen_with_it(tmp_path: Path) -> None:
    """A contact known by number is the first ACI seen with it; a later ACI with it is somebody else."""
    people = people_after(tmp_path, [NUMBER], [ADA_HERE], [ADA_ALONE, BEN_HERE])
    assert set(people) == {f"{ADA_IS},{NUMBER_IS}", f"{BEN_IS},{NUMBER_IS}"}


def test_two_entries_that_a_later_backup_has_as_one_are_one(tmp_path: Path) -> None:
    """A number and an ACI that a later backup has in one contact are one person, as in the app."""
    people = people_after(tmp_path, [NUMBER, ADA_ALONE], [ADA_HERE])
    assert set(people) == {f"{ADA_IS},{NUMBER_IS}"}


def test_two_entries_that_a_later_backup_lists_apart_are_two(tmp_path: Path) -> None:
    """A number that a later backup lists apart from its former ACI belongs to somebody else."""
    people = people_after(tmp_path, [ADA_HERE], [ADA_ALONE, NUMBER])
    assert set(people) == {f"{ADA_IS},{NUMBER_IS}", NUMBER_IS}
    assert all(people.values())


def test_a_number_that_was_given_up_is_the_next_owners(tmp_path: Path) -> None:
    """A contact known by a number that was given up is the person later seen with the number."""
    people = people_after(tmp_path, [ADA_HERE], [ADA_ALONE, NUMBER], [ADA_ALONE, BEN_HERE])
    assert set(people) == {f"{ADA_IS},{NUMBER_IS}", f"{BEN_IS},{NUMBER_IS}"}


def test_a_new_number_makes_nobody_new(tmp_path: Path) -> None:
    """A contact with the same ACI and a new number is one person, also where only a number or PNI is known."""
    people = people_after(
        tmp_path, [NUMBER], [ADA_HERE], [{"aci": ADA, **OTHER_LINE}], [{"pni": OTHER_LINE["pni"]}]
    )
    assert len(people) == 1


def test_a_pni_leads_from_a_number_to_a_person(tmp_path: Path) -> None:
    """A PNI links a number and an ACI that no record has together."""
    people = people_after(tmp_path, [NUMBER], [dict(LINE)], [{"aci": ADA, "pni": LINE["pni"]}])
    assert len(people) == 1


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 3))
def test_every_order_finds_the_same_people(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Backups with shared and changing identifiers, and one imported twice, give the same archive in any order."""
    folder = tmp_path_factory.mktemp("people")
    sources = [
        write_backup(folder / str(number), dice.randrange(3), choose_identifiers(dice, 3), dice, messages=3)
        for number in range(count)
    ]
    expected: list[str] | None = None
    for n, order in enumerate(permutations(sources)):
        import_backups(folder / f"{n}.db", *order, dice.choice(order))
        expected = expected or dump(folder / f"{n}.db")
        assert dump(folder / f"{n}.db") == expected
