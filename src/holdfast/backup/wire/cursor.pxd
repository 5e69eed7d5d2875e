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
    cdef void find_invalid_text(self, Py_ssize_t end) noexcept nogil
    cdef bint enter(self, Py_ssize_t cap) noexcept nogil

cdef unsigned long long last_word(Cursor cursor, size_t at, size_t end) noexcept nogil

cdef inline unsigned long long word(Cursor cursor, size_t at) noexcept nogil:
    # Written so that a C compiler makes one read of it.
    cdef const unsigned char *here
    if at + 8 > <size_t>cursor.data.shape[0]:
        return 0
    here = &cursor.data[at]
    return (
        <unsigned long long>here[0]
        | <unsigned long long>here[1] << 8
        | <unsigned long long>here[2] << 16
        | <unsigned long long>here[3] << 24
        | <unsigned long long>here[4] << 32
        | <unsigned long long>here[5] << 40
        | <unsigned long long>here[6] << 48
        | <unsigned long long>here[7] << 56
    )

cdef inline unsigned long long six_bytes(Cursor cursor, size_t at) noexcept nogil:
    # Sevens become fourteens, and those one number.
    cdef unsigned long long value = word(cursor, at)
    if value & 0x808080808080ULL != 0x8080808080ULL:
        return 0
    value = (value & 0x7F007F007FULL) | (value >> 1 & 0x3F803F803F80ULL)
    return (value & 0x3FFFULL) | (value >> 2 & 0xFFFC000ULL) | (value >> 4 & 0x3FFF0000000ULL)
