"""Use cases: one function per thing a user can do, with its validation, transaction and events."""
