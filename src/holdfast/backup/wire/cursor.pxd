# The C side of cursor.py: the types of its attributes, and which of its methods need no interpreter.

cdef class Cursor:
    cdef const unsigned char[::1] data
    cdef Py_ssize_t pos
    cdef Py_ssize_t end
    cdef Py_ssize_t whole
    cdef Py_ssize_t begin
    cdef Py_ssize_t needed
    cdef int fault
    cdef bint padded

    cdef unsigned long long varint(self) noexcept nogil
    cdef unsigned int any_tag(self) noexcept nogil
    cdef unsigned int tag(self) noexcept nogil
    cdef Py_ssize_t length(self) noexcept nogil
    cdef unsigned int fixed32(self) noexcept nogil
    cdef unsigned int step(self) noexcept nogil
    cdef void skip(self, unsigned int tag, int depth) noexcept nogil
    cdef void skip_group(self, unsigned int number, int depth) noexcept nogil
    cdef void advance(self, Py_ssize_t size) noexcept nogil
    cdef void utf8(self, Py_ssize_t end) noexcept nogil
    cdef void lost_in_text(self, Py_ssize_t end) noexcept nogil
    cdef bint enter(self, Py_ssize_t cap) noexcept nogil

cdef unsigned long long word(Cursor cursor, size_t at) noexcept nogil
