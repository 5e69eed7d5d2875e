"""Copies of a backup that say nothing of what was written, fit to attach to a bug report.

fields        what becomes of each field of the schema: the one table that decides
texts         text of the same shape that says nothing
identities    the same stranger for the same person, wherever they are named
badges        gift badges that still parse
unknown       what the schema does not know, emptied
broken        records that cannot be parsed, replaced by others that fail in the same way
copying       a whole backup, block by block

Every value is overwritten in place by one of the same number of bytes, so that all lengths, offsets and ways of
writing stay as they were. What is written depends on the seed, on sizes and on which identities are equal, never
on the values themselves: whoever knows the seed can neither undo a redaction nor try guesses on it.
"""
