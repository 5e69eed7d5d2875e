"""Substring search by index, compared with `LIKE`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, select, text, update

from holdfast.hosting.store import accounts, migrate, repositories, substring_search
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.substring_search import SubstringMatch, rows_containing
from holdfast.hosting.store.tables import repositories as repository_table
from holdfast.hosting.store.tables import users
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_repository
from tests.hosting.store.query_plans import recorded

pytestmark = pytest.mark.usefixtures("database")

# Few different characters, so that texts contain each other, and those that have a meaning in patterns or queries.
ALPHABET = "aAbß%_\\'\"* :&|()-.\nÄäİΣς🐚"
TEXTS = st.text(ALPHABET, max_size=12)
NEEDLES = st.text(ALPHABET, min_size=1, max_size=5)


def in_rows(database: Database, match: SubstringMatch) -> set[int]:
    """Return the repositories for which a match holds, without the index."""
    joined = repository_table.join(users, repository_table.c.owner_id == users.c.id)
    statement = select(repository_table.c.id).select_from(joined).where(match.condition)
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


def in_list(database: Database, match: SubstringMatch, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Return the repositories of a list, after comparing all orders and limits of candidates."""
    pages = []
    for most in (substring_search.MOST_CANDIDATES, 0):
        monkeypatch.setattr(substring_search, "MOST_CANDIDATES", most)
        for descending in (False, True):
            found_repositories, total = repositories.list_repositories(
                database, [], matches=[match], sort="alpha", descending=descending, skip=0, limit=100
            )
            assert total == len(found_repositories)
            pages.append([item.id for item in (found_repositories[::-1] if descending else found_repositories)])
    monkeypatch.undo()
    assert all(page == pages[0] for page in pages)
    return set(pages[0])


def candidates_of(database: Database, match: SubstringMatch) -> set[int]:
    """Return the ids that the index yields."""
    with database.read() as connection:
        return {number for query in match.candidates for number in connection.execute(query).scalars()}


def matches_of(needle: str, database: Database) -> list[SubstringMatch]:
    """Return a match of each kind."""
    sqlite = database.is_sqlite
    single = [
        repositories.name_contains(needle, sqlite=sqlite),
        repositories.description_contains(needle, sqlite=sqlite),
        repositories.has_topic(needle, sqlite=sqlite),
        repositories.owner_contains(needle, sqlite=sqlite),
    ]
    return [*single, repositories.any_of(*single)]


def set_texts(connection: Connection, repository: Repository, name: str, description: str) -> None:
    """Give a repository texts that the API would refuse, as the search must not rely on that."""
    changed = update(repository_table).where(repository_table.c.id == repository.id)
    connection.execute(
        changed.values(folded_name=name.casefold(), description=description, topics=f'["{description}"]')
    )


@given(named=st.lists(st.tuples(TEXTS, TEXTS), min_size=3, max_size=3), needle=NEEDLES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_the_index_finds_what_like_finds(
    database: Database,
    ada: Account,
    monkeypatch: pytest.MonkeyPatch,
    named: list[tuple[str, str]],
    needle: str,
) -> None:
    """The index finds random substrings of names, descriptions, topics and owners as `LIKE` does."""
    created_repositories = [make_repository(database, ada, f"made-{number}") for number in range(3)]
    try:
        with database.write() as connection:
            for number, (repository, (name, description)) in enumerate(
                zip(created_repositories, named, strict=True)
            ):
                set_texts(connection, repository, f"{name}{number}", description)
            connection.execute(update(users).where(users.c.id == ada.id).values(full_name=named[0][0]))
        for wanted in {needle, named[0][0][1:4] or needle, named[1][1][-2:] or needle}:
            for match in matches_of(wanted, database):
                expected = in_rows(database, match)
                assert expected <= candidates_of(database, match)
                assert in_list(database, match, monkeypatch) == expected
            check_accounts(database, wanted)
    finally:
        with database.write() as connection:
            connection.execute(delete(repository_table))


def check_accounts(database: Database, wanted: str) -> None:
    """Compare a search of accounts with `LIKE`."""
    condition = accounts.named(wanted, sqlite=database.is_sqlite).condition
    with database.read() as connection:
        expected = list(connection.execute(select(users.c.name).where(condition)).scalars())
    listed, total = accounts.search_accounts(
        database, wanted, organizations=False, visibilities=("public",), skip=0, limit=10
    )
    assert ([item.name for item in listed], total) == (expected, len(expected))


def by_name(database: Database, wanted: str) -> list[str]:
    """Return the repositories that a search by name finds, by the index alone too."""
    match = repositories.name_contains(wanted, sqlite=database.is_sqlite)
    found_repositories, total = repositories.list_repositories(
        database, [], matches=[match], sort="alpha", skip=0, limit=50
    )
    assert total == len(found_repositories)
    assert candidates_of(database, match) == {item.id for item in found_repositories}
    return [item.full_name for item in found_repositories]


def test_the_index_follows_a_repository(database: Database, ada: Account) -> None:
    """A repository is found by its current name, description and owner, and not after its deletion."""
    sqlite = database.is_sqlite
    boats = make_repository(database, ada, "Fishing-Boats")
    assert [by_name(database, wanted) for wanted in ("G-B", "fishing-boats", "ts", "z")] == [
        ["admin/Fishing-Boats"],
        ["admin/Fishing-Boats"],
        ["admin/Fishing-Boats"],
        [],
    ]
    with database.write() as connection:
        repositories.rename_repository(connection, boats, "nets")
        repositories.change_repository(connection, boats, description="Mended twine")
    assert (by_name(database, "boats"), by_name(database, "net")) == ([], ["admin/nets"])
    twine = repositories.description_contains("D TW", sqlite=sqlite)
    assert candidates_of(database, twine) == {boats.id}
    ben = accounts.create_user(database, "ben", Secret("long enough"))
    of_ben = repositories.owner_contains("BEN", sqlite=sqlite)
    assert candidates_of(database, of_ben) == set()
    with database.write() as connection:
        repositories.transfer_repository(connection, repositories.repository_by_id(database, boats.id), ben)
    assert candidates_of(database, of_ben) == {boats.id}
    accounts.rename_account(database, ben, "cleo")
    assert candidates_of(database, of_ben) == set()
    with database.write() as connection:
        repositories.remove_row(connection, repositories.repository_by_id(database, boats.id))
    assert by_name(database, "nets") == []
    assert candidates_of(database, twine) == set()


def test_the_index_follows_an_account(database: Database) -> None:
    """An account is found by its current full name; a deleted one and its repositories are not found."""

    def found(wanted: str) -> list[str]:
        listed, total = accounts.search_accounts(
            database, wanted, organizations=False, visibilities=("public",), skip=0, limit=50
        )
        assert total == len(listed)
        return [item.name for item in listed]

    ben = accounts.create_user(database, "ben", Secret("long enough"), full_name="Benedikt Öst")
    make_repository(database, ben, "harbour")
    assert [found(wanted) for wanted in ("BEN", "kt ", "dikt", "st")] == [["ben"]] * 4
    accounts.change_account(database, ben, full_name="Cleo")
    assert (found("dikt"), found("LEO")) == ([], ["ben"])
    with database.write() as connection:
        connection.execute(delete(users).where(users.c.id == ben.id))
    assert (found("leo"), by_name(database, "harbour")) == ([], [])


def test_an_update_of_something_else_leaves_the_index_alone(database: Database, repository: Repository) -> None:
    """An update of other columns, as after a push, does not write the index."""
    with database.write() as connection:
        before = connection.execute(text(CHANGES[database.is_sqlite])).scalar_one()
        repositories.change_repository(connection, repository, size=7, description=repository.description)
        after = connection.execute(text(CHANGES[database.is_sqlite])).scalar_one()
    assert after - before == (1 if database.is_sqlite else 0)


# How many rows were written: by this connection, with the one of the update; to the index by this transaction.
CHANGES = {
    True: "SELECT total_changes()",
    False: (
        "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables"
        " WHERE relname LIKE 'repository%search'"
    ),
}


def test_private_repositories_are_candidates_but_not_found(database: Database, ada: Account) -> None:
    """The index has private repositories, and the conditions of the list hide them, in the total too."""
    make_repository(database, ada, "open-sea")
    make_repository(database, ada, "deep-sea", is_private=True)
    match = repositories.name_contains("sea", sqlite=database.is_sqlite)
    assert len(candidates_of(database, match)) == 2
    for user, total in ((None, 1), (ada, 2)):
        visible = repositories.readable_by(user)
        assert repositories.list_repositories(database, [visible], matches=[match], skip=0, limit=9)[1] == total


def test_a_text_that_few_rows_have_is_looked_up(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few candidates all are looked up and paged; with more the list is read in its order."""
    monkeypatch.setattr(substring_search, "MOST_CANDIDATES", 6)
    for number in range(8):
        make_repository(database, ada, f"{'rare' if number < 5 else 'other'}-{number}")
    sqlite = database.is_sqlite
    for wanted, limited, names in (
        ("rare", False, ["rare-2", "rare-3"]),
        ("r", True, ["other-7", "rare-0"]),
        ("e-", False, ["rare-2", "rare-3"]),
    ):
        match = repositories.name_contains(wanted, sqlite=sqlite)
        with recorded(database, "ORDER BY repositories.folded_name") as statements:
            page, _ = repositories.list_repositories(database, [], matches=[match], sort="alpha", skip=2, limit=2)
        assert [item.name for item in page] == names, wanted
        assert ["LIMIT" in statement for statement, _ in statements] == [limited], wanted


def test_several_texts_narrow_together(database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several texts one with few candidates suffices to use the index."""
    monkeypatch.setattr(substring_search, "MOST_CANDIDATES", 3)
    for number in range(5):
        make_repository(database, ada, f"boat-{number}")
    every, one, other = (
        repositories.name_contains(wanted, sqlite=database.is_sqlite) for wanted in ("boat", "t-3", "t-4")
    )
    for matches, names in (([every, one], ["boat-3"]), ([one, every], ["boat-3"]), ([one, other], [])):
        with recorded(database, "ORDER BY repositories.folded_name") as statements:
            found_repositories, total = repositories.list_repositories(
                database, [], matches=matches, sort="alpha", skip=0, limit=9
            )
        assert ([repository.name for repository in found_repositories], total) == (names, len(names))
        assert not any("LIMIT" in statement for statement, _ in statements)


def test_candidates_are_counted_over_all_columns(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as the maximum are candidates, one more is too many, in one column or in several."""
    monkeypatch.setattr(substring_search, "MOST_CANDIDATES", 3)
    numbers = [
        make_repository(database, ada, name).id for name in ("xx-1", "xx-2", "xx-3", "yy-1", "yy-2", "yy-3")
    ]
    named = {
        wanted: repositories.name_contains(wanted, sqlite=database.is_sqlite)
        for wanted in ("xx-", "yy-", "-1", "-")
    }
    with database.read() as connection:
        assert substring_search.candidates_of(connection, named["xx-"]) == set(numbers[:3])
        assert substring_search.candidates_of(connection, named["-"]) is None
        either = repositories.any_of(named["xx-"], named["-1"])
        assert substring_search.candidates_of(connection, either) is None
        both = [named["-"], named["xx-"], named["-1"]]
        assert substring_search.find_candidates(connection, both) == {numbers[0]}
        assert substring_search.find_candidates(connection, [named["-"]]) is None


def test_a_long_text_costs_no_more(database: Database, ada: Account) -> None:
    """Only the beginning of a long text is looked up in the index, and the whole text is compared."""
    make_repository(database, ada, "a" * 100)
    assert by_name(database, "a" * 100) == [f"admin/{'a' * 100}"]
    match = repositories.name_contains("a" * 20_000, sqlite=database.is_sqlite)
    assert repositories.list_repositories(database, [], matches=[match], skip=0, limit=9)[1] == 0


@pytest.mark.parametrize("wanted", ["rare", "ra", "r"])
def test_candidates_are_read_by_index(database: Database, wanted: str) -> None:
    """The query plans use the trigram index, with other scans disabled on PostgreSQL."""
    sqlite = database.is_sqlite
    with database.read() as connection:
        for setting in ("seqscan", "indexscan", "indexonlyscan") if not sqlite else ():
            connection.execute(text(f"SET LOCAL enable_{setting} = off"))
        for name in substring_search.NAMES:
            query = rows_containing(name, wanted, sqlite=sqlite).limit(9)
            compiled = query.compile(dialect=database.engine.dialect, compile_kwargs={"literal_binds": True})
            explained = f"EXPLAIN {'QUERY PLAN ' if sqlite else ''}{compiled}"
            plan = "\n".join(str(row) for row in connection.exec_driver_sql(explained))
            assert ("VIRTUAL TABLE INDEX" if sqlite else f"Bitmap Index Scan on ix_{name}_trigrams") in plan, plan


def test_rows_from_before_the_index_are_found(empty_database: Database) -> None:
    """The migration fills the index with existing repositories and users."""
    migrate.upgrade(empty_database, to="0028")
    ada = accounts.create_user(empty_database, "ada", Secret("long enough"), full_name="Ada Lovelace")
    with empty_database.write() as connection:
        row = {"owner_id": ada.id, "name": "Ship", "folded_name": "ship", "default_branch": "main"}
        connection.execute(insert(repository_table), {**row, "description": "Old", "topics": '["hull"]'})
    migrate.upgrade(empty_database)
    sqlite = empty_database.is_sqlite
    for match in (
        repositories.name_contains("hip", sqlite=sqlite),
        repositories.description_contains("OL", sqlite=sqlite),
        repositories.has_topic("hull", sqlite=sqlite),
        repositories.owner_contains("a", sqlite=sqlite),
    ):
        assert len(candidates_of(empty_database, match)) == 1
    with empty_database.read() as connection:
        (query,) = accounts.named("lace", sqlite=sqlite).candidates
        assert connection.execute(query).scalars().all() == [ada.id]
