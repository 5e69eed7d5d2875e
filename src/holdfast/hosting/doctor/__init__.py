"""Consistency checks of the database against the files on disk, and safe repairs."""
