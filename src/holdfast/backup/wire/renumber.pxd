cimport cython

from holdfast.backup.wire.cursor cimport Cursor

@cython.final
cdef class Renumberer(Cursor):
    cdef bytes source
    cdef const unsigned char[::1] kinds
    cdef const unsigned char[::1] leads
    cdef object people
    cdef object chats
    cdef object colors
    cdef bytearray out
    cdef Py_ssize_t copied
    cdef unsigned long long chat
    cdef unsigned long long author
    cdef unsigned long long sent
    cdef unsigned long long origin
    cdef unsigned long long received

    cdef void restart(self, Py_ssize_t at) except *
    cdef void flush(self, Py_ssize_t upto) except *
    cdef void put(self, unsigned long long number) except *
    cdef void put_length(self, Py_ssize_t begin) except *
    cdef void replace(self, unsigned char kind, int depth, unsigned long long value) except *
    cdef void note(self, unsigned char kind, int depth, unsigned long long value) except *
    cdef void message(self, unsigned int message, int depth) except *
