"""Holds the database against what is on disk, says what differs, and repairs what can be repaired safely."""
