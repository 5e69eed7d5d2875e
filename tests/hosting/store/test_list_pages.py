"""Pagination of lists from either end."""

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, select

from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.tables import watches

sizes = st.integers(0, 12)


@given(keys=st.lists(st.integers(0, 3), max_size=12), skip=sizes, limit=sizes, descending=st.booleans())
def test_a_page_is_a_part_of_the_sorted_list(keys: list[int], skip: int, limit: int, *, descending: bool) -> None:
    """A page is the slice of the sorted list, also when a known total lets it be read from the nearer end."""
    rows = [
        {"repository_id": 1, "user_id": number, "created_at": created_at} for number, created_at in enumerate(keys)
    ]
    expected = [
        row["user_id"]
        for row in sorted(rows, key=lambda row: (row["created_at"], row["user_id"]), reverse=descending)
    ][skip : skip + limit]
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE watches (repository_id, user_id, created_at)")
            if rows:
                connection.execute(watches.insert(), rows)
            for total in (len(rows), None):
                result = page_ids(
                    connection,
                    select(watches.c.user_id),
                    watches.c.created_at,
                    watches.c.user_id,
                    descending=descending,
                    skip=skip,
                    limit=limit,
                    total=total,
                )
                assert result == expected
    finally:
        engine.dispose()
