from holdfast.backup.wire.cursor cimport Cursor
from holdfast.backup.wire.layout cimport HEAD, LEVELS, NOTES, REGISTERS, WIDTH
from holdfast.backup.wire.roll cimport Roll

cdef class Ground(Cursor):
    cdef const unsigned char[::1] ops
    cdef const unsigned long long[::1] arguments
    cdef const unsigned int[::1] rules
    cdef const unsigned int[::1] missing
    cdef const unsigned int[::1] kinds
    cdef const unsigned int[::1] kind_rules
    cdef const unsigned int[::1] twice
    cdef const unsigned char[::1] ages
    cdef const unsigned long long[::1] wanted
    cdef const unsigned long long[::1] oneofs
    cdef const unsigned int[::1] oneof_rules
    cdef Roll people
    cdef Roll chats
    cdef Roll colors
    cdef const unsigned char[::1] quiet
    cdef int purpose
    cdef unsigned long long made_at
    cdef bint old
    cdef unsigned long long[REGISTERS] values
    cdef long long[REGISTERS] starts
    cdef long long[REGISTERS] sizes
    cdef unsigned long long[LEVELS * NOTES] notes
    cdef unsigned long long[LEVELS] seen
    cdef unsigned long long[LEVELS] filled
    cdef unsigned int[LEVELS] messages
    cdef long long[LEVELS] steps
    cdef long long[LEVELS] elements
    cdef unsigned long long[::1] voters
    cdef unsigned long long[::1] reactors
    cdef unsigned long long round
    cdef unsigned long long[LEVELS] rounds
    cdef unsigned long long[::1] page
    cdef Py_ssize_t used
    cdef unsigned long long lost
    cdef unsigned long long frame
    cdef unsigned long long base
    cdef bint newer
    cdef bint grave
    cdef const unsigned char[::1] graves

    cdef void report(self, unsigned int rule, int depth, unsigned int number, Py_ssize_t element, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void write(self, unsigned int rule, Py_ssize_t size, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void crowded(self) noexcept nogil
    cdef void wrong(self, unsigned int rule, int depth, unsigned int number) noexcept nogil
    cdef bint has(self, int depth, unsigned int number) noexcept nogil
    cdef bint holds(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned long long value(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t size(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t start(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned int kind_at(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned long long note(self, int depth, int index) noexcept nogil
    cdef void set_note(self, int depth, int index, unsigned long long value) noexcept nogil
    cdef Py_ssize_t slot(self, int depth, unsigned int number) noexcept nogil
