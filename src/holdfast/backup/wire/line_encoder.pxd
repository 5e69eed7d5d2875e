cimport cython

from holdfast.backup.wire.cursor cimport Cursor

@cython.final
cdef class LineEncoder(Cursor):
    cdef unsigned char[::1] page
    cdef Py_ssize_t room
    cdef Py_ssize_t used
    cdef Py_ssize_t cap
    cdef bint unfit
    cdef bint blank

    cdef void line(self) noexcept nogil
    cdef void message(self, unsigned int message, int depth) noexcept nogil
    cdef void value(self, Py_ssize_t slot, unsigned int shape, int depth) noexcept nogil
    cdef void array(self, Py_ssize_t slot, unsigned int shape, int depth) noexcept nogil
    cdef void packed(self, Py_ssize_t slot, unsigned int shape) noexcept nogil
    cdef void single(self, Py_ssize_t slot, unsigned int shape) noexcept nogil
    cdef unsigned long long number(self, Py_ssize_t slot, unsigned int kind) noexcept nogil
    cdef unsigned long long integer(self) noexcept nogil
    cdef unsigned int name(self, unsigned int owner) noexcept nogil
    cdef bint same(self, Py_ssize_t begin, Py_ssize_t at, Py_ssize_t size) noexcept nogil
    cdef bint literal(self, Py_ssize_t text) noexcept nogil
    cdef void string(self, unsigned int tag, unsigned int shape) noexcept nogil
    cdef void unescape(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef unsigned int hexadecimal(self, Py_ssize_t at, Py_ssize_t end) noexcept nogil
    cdef void character(self, unsigned int code) noexcept nogil
    cdef void base64(self, unsigned int tag, unsigned int shape) noexcept nogil
    cdef inline void space(self) noexcept nogil
    cdef inline bint take(self, unsigned char byte) noexcept nogil
    cdef void bare(self, unsigned int shape, unsigned long long value) noexcept nogil
    cdef void varint_out(self, unsigned long long value) noexcept nogil
    cdef void copy(self, Py_ssize_t at, Py_ssize_t size) noexcept nogil
    cdef inline void put(self, unsigned char byte) noexcept nogil
    cdef Py_ssize_t open(self, unsigned int tag) noexcept nogil
    cdef void close(self, Py_ssize_t at) noexcept nogil
    cdef inline bint fits(self, Py_ssize_t size) noexcept nogil
