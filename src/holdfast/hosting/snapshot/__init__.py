"""Online backup of the whole service, and restore.

A backup is one tar file. Tables are dumped in a format that is independent of the database, so that a backup of
SQLite can be restored to PostgreSQL and vice versa.
"""
