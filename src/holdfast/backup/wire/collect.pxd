cimport cython

from holdfast.backup.wire.cursor cimport Cursor

@cython.final
cdef class Collector(Cursor):
    cdef list found
    cdef const unsigned char[::1] selected
    cdef const unsigned char[::1] leads

    cdef void message(self, unsigned int message, int depth) except *
    cdef void numbers(self, Py_ssize_t slot, int depth) except *
