"""Online backup of the whole service, and restore.

A backup is one tar file. The tables are in it in a format that is the same for SQLite and PostgreSQL, so either
can be restored from a backup of the other.
"""
