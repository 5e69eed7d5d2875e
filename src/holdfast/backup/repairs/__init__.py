"""Repair of backups: fixes rule violations without inventing or losing content.

field_edits       edits single fields of a serialized record
plan              computes the changes of a repair by trial and validation
patches           replaces, drops or moves frames; all others are copied byte for byte
salvage           reads the frames of a truncated stream
container_damage  repairs of encryption, compression and the snapshot folder
log               the change log, with which a repair can be undone
shape             the output format of a repair
originals         a copy of the original file, where the change log is not enough
undo              restores the original from a repaired backup and its log
execution         public functions: plan, repair and undo
"""
