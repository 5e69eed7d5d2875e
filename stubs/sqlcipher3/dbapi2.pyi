"""What mypy knows of SQLCipher's module: its classes have the interface of the standard library's `sqlite3`.

When it runs they are classes of their own, which no `except sqlite3.Error` catches.
"""

import sqlite3

class Error(Exception): ...

class Connection(sqlite3.Connection):
    def set_key(self, key: str, /) -> None: ...

class Cursor(sqlite3.Cursor): ...

def connect(
    database: str,
    *,
    uri: bool,
    isolation_level: None,
    timeout: float,
    check_same_thread: bool,
    factory: type[Connection],
) -> Connection: ...
