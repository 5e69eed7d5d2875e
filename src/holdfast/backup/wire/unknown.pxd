from holdfast.backup.wire.cursor cimport Cursor
from holdfast.backup.wire.walk cimport Walker

cdef object search(Cursor cursor, unsigned int message, str path, list found)
