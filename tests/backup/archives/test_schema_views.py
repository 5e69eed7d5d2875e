"""SQL views of an archive for users."""

import sqlite3
from contextlib import closing
from pathlib import Path


def test_the_views_are_what_they_were(filled: Path) -> None:
    """The first columns of each view keep their names and order, because users write queries with them."""
    with closing(sqlite3.connect(filled)) as plain, plain:
        columns = {
            view: [column[0] for column in plain.execute(f"SELECT * FROM {view} LIMIT 1").description]
            for view in ("messages", "chats", "people")
        }
    assert columns["messages"][:9] == [
        "id",
        "account",
        "chat",
        "author",
        "direction",
        "kind",
        "text",
        "sent",
        "sent_ms",
    ]
    assert columns["chats"][:4] == ["id", "account", "name", "kind"]
    assert columns["people"][:7] == ["id", "account", "name", "kind", "aci", "pni", "phone"]
