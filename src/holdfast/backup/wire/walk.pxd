cimport cython

from holdfast.backup.wire.cursor cimport Cursor, six_bytes

@cython.final
cdef class Walker(Cursor):
    cdef unsigned long long fields
    cdef unsigned long long unknown
    cdef unsigned long long unnamed
    cdef bint shuffled
    cdef bint odd
    cdef bint knotted
    cdef bint lossy

    cdef void body(self, unsigned int root) noexcept nogil
    cdef void message(self, unsigned int message, int depth) noexcept nogil
    cdef void single(self, Py_ssize_t slot, unsigned int shape) noexcept nogil
    cdef void delimited(self, Py_ssize_t slot, unsigned int shape, int depth) noexcept nogil
    cdef void packed(self, Py_ssize_t slot, unsigned int shape, Py_ssize_t size) noexcept nogil
    cdef void number(self, Py_ssize_t slot, unsigned int shape) noexcept nogil
    cdef void quad(self, unsigned int shape) noexcept nogil
    cdef inline unsigned int quick_tag(self, unsigned int limit) noexcept nogil
    cdef inline unsigned long long quick_varint(self) noexcept nogil
    cdef inline Py_ssize_t quick_length(self) noexcept nogil
