"""Display names of people."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.archives.people import Names


@pytest.fixture
def connection(filled: Path) -> Iterator[sqlite3.Connection]:
    """Connect to an archive, to change it too."""
    with archives.open(filled, create=True) as opened:
        yield opened.connection


def first_row(connection: sqlite3.Connection, query: str) -> tuple[int, int, str]:
    """Return the first row of a query for an account, a recipient and an identifier."""
    row: tuple[int, int, str] = connection.execute(query).fetchone()
    return row


def contact(connection: sqlite3.Connection, kind: str = "aci") -> tuple[int, int, str]:
    """Return a contact with its account and a service id."""
    return first_row(
        connection,
        "SELECT i.account_id, i.recipient_id, i.value FROM identity i JOIN recipient r ON r.id = i.recipient_id "
        f"WHERE i.kind = '{kind}' AND r.kind = 'contact' ORDER BY i.recipient_id",
    )


def owner(connection: sqlite3.Connection) -> tuple[int, int, str]:
    """Return the owner with the account and its service id."""
    return first_row(
        connection,
        "SELECT a.id, r.id, a.self_aci FROM recipient r JOIN account a ON a.id = r.account_id "
        "WHERE r.kind = 'self'",
    )


def test_people_are_listed_with_the_owner(opened: Archive) -> None:
    """The owner is listed once, first, and with the name of the account."""
    people = opened.people()
    assert people[0].kind == "self"
    assert people[0].name == people[0].account
    assert sum(person.kind == "self" for person in people) == 1


def test_everybody_has_the_name_of_their_row(connection: sqlite3.Connection) -> None:
    """The owner has the name of the account, or "You" without one; an unknown id is "Unknown"."""
    names = Names(connection)
    account, own, _aci = owner(connection)
    _account, person, _service = contact(connection)
    ((called,),) = connection.execute("SELECT name FROM recipient WHERE id = ?", (person,)).fetchall()
    ((own_name,),) = connection.execute("SELECT name FROM account WHERE id = ?", (account,)).fetchall()
    assert [names.name(number) for number in (person, own, -5)] == [called, own_name, "Unknown"]
    assert [names.is_owner(number) for number in (person, own, -5)] == [False, True, False]
    connection.execute("UPDATE account SET name = ''")
    assert Names(connection).name(own) == "You"


def test_sentences_name_somebody_by_id_or_service_id(connection: sqlite3.Connection) -> None:
    """The name of the owner is empty there, and that of an unknown id is None; a PNI needs its prefix."""
    names = Names(connection)
    account, own, own_aci = owner(connection)
    _account, person, aci = contact(connection)
    _account, other, pni = contact(connection, "pni")
    assert names.name_in_account(account, person) == names.name_in_account(account, aci) == names.name(person)
    assert names.name_in_account(account, f"PNI:{pni}") == names.name(other)
    assert names.name_in_account(account, own) == names.name_in_account(account, own_aci) == ""
    assert [names.name_in_account(account, identifier) for identifier in (-5, "nobody", pni)] == [None, None, None]
    assert names.name_in_account(account + 1, aci) is None


def test_the_own_service_id_of_an_account_is_its_owner(connection: sqlite3.Connection) -> None:
    """The ACI of an account leads to its owner, unless a contact has that ACI or the account has no owner."""
    account, own, own_aci = owner(connection)
    connection.execute("DELETE FROM identity WHERE recipient_id = ?", (own,))
    assert Names(connection).by_service[account, own_aci] == own
    _account, person, aci = contact(connection)
    connection.execute("UPDATE account SET self_aci = ?", (aci,))
    assert Names(connection).by_service[account, aci] == person
    connection.execute("UPDATE recipient SET kind = 'contact' WHERE id = ?", (own,))
    connection.execute("UPDATE account SET self_aci = ?", (own_aci,))
    assert (account, own_aci) not in Names(connection).by_service


def test_who_is_asked_for_is_noted_while_somebody_listens(connection: sqlite3.Connection) -> None:
    """Every way to look a name up is tracked inside `track`, known or not, and none after it."""
    names = Names(connection)
    account, own, _aci = owner(connection)
    with names.track() as used:
        names.name(1)
        names.is_owner(own)
        names.name_in_account(account, 3)
        names.name_in_account(account, "service")
    names.name(4)
    names.is_owner(5)
    names.name_in_account(account, 6)
    assert used == {1, own, 3, "service"}
    assert names.used is None


def test_all_that_can_be_learned_of_somebody_is_the_name_and_whether_it_is_the_owner(
    connection: sqlite3.Connection,
) -> None:
    """A lookup by id or service id gives the name and whether it is the owner, and None for an unknown id."""
    names = Names(connection)
    account, own, own_aci = owner(connection)
    _account, person, aci = contact(connection)
    assert names.lookup(account, person) == names.lookup(account, aci) == (names.name(person), False)
    assert names.lookup(account, own) == names.lookup(account, own_aci) == (names.name(own), True)
    assert names.lookup(account, "nobody") == names.lookup(account, -5) == (None, False)
