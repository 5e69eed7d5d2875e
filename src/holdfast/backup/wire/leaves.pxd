cimport cython

from holdfast.backup.wire.cursor cimport Cursor

@cython.final
cdef class Finder(Cursor):
    cdef list found
    cdef const unsigned char[::1] selected

    cdef void message(self, unsigned int message) except *
