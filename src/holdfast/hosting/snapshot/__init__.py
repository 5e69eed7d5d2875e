"""Online backup of the whole service, and restore.

A backup is one tar file. The database is in it table by table, in a form that is the same for SQLite and
PostgreSQL, so that either can be restored from a backup of the other.
"""
