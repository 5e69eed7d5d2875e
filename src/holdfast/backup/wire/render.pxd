cimport cython

from holdfast.backup.wire.cursor cimport Cursor, six_bytes

cdef enum:
    SHORT = 32

@cython.final
cdef class Renderer(Cursor):
    cdef object buffer
    cdef unsigned char[::1] page
    cdef Py_ssize_t room
    cdef Py_ssize_t used
    cdef Py_ssize_t line
    cdef bint full
    cdef Py_ssize_t names

    cdef void record(self, unsigned int root, Py_ssize_t begin, Py_ssize_t end, bint keep) noexcept nogil
    cdef void message(self, unsigned int message) noexcept nogil
    cdef unsigned long long read_length(self) noexcept nogil
    cdef unsigned long long read_number(self, unsigned int shape) noexcept nogil
    cdef void delimited(self, Py_ssize_t slot, unsigned int shape, Py_ssize_t end) noexcept nogil
    cdef void packed(self, Py_ssize_t slot, unsigned int shape) noexcept nogil
    cdef void number(self, Py_ssize_t slot, unsigned int kind, unsigned long long value) noexcept nogil
    cdef void enum(self, Py_ssize_t enum, unsigned long long value) noexcept nogil
    cdef void float32(self, unsigned int bits) noexcept nogil
    cdef void string(self, Py_ssize_t end) noexcept nogil
    cdef void copy(self, Py_ssize_t at, Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t escape(self, Py_ssize_t pos, Py_ssize_t end) noexcept nogil
    cdef void base64(self, Py_ssize_t end) noexcept nogil
    cdef void digits(self, unsigned long long value, bint quoted) noexcept nogil
    cdef void text(self, Py_ssize_t index, bint first) noexcept nogil
    cdef inline void put(self, unsigned char byte) noexcept nogil
    cdef inline bint fits(self, Py_ssize_t size) noexcept nogil
