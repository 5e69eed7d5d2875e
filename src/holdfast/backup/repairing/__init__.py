"""Backups mended: what breaks a rule and can be put right without inventing or losing what somebody wrote.

editing     single fields of a record
plan        what would be changed, found by trying it
patches     frames replaced, left out or moved, while all others pass through byte for byte
salvage     what can be read of a stream that breaks off
around      damage of encryption, compression or the folder
log         what was changed, kept so that it can be undone
shape       the form to write
originals   the file itself, kept where nothing less leads back to it
restoring   the way back
mending     the whole of it
"""
