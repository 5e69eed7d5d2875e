"""Backups mended: what breaks a rule and can be put right without inventing or losing what somebody wrote.

field_edits     single fields of a record
plan            what would be changed, found by trying it
patches         frames replaced, left out or moved, while all others pass through byte for byte
salvage         what can be read of a stream that breaks off
container_damage    damage of encryption, compression or the folder
log             what was changed, kept so that it can be undone
shape           the form to write
originals       the file itself, kept where nothing less leads back to it
undo            restores the original from a repaired backup and its log
execution       carries a plan out
"""
