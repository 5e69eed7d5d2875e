from holdfast.backup.wire.cursor cimport Cursor
from holdfast.backup.wire.layout cimport HEAD, LEVELS, NOTES, REGISTERS, WIDTH
from holdfast.backup.rules.id_table cimport IdTable

cdef class RuleContext(Cursor):
    cdef IdTable recipients
    cdef IdTable chats
    cdef IdTable colors
    cdef const unsigned char[::1] muted
    cdef int purpose
    cdef unsigned long long made_at
    cdef bint spec_only
    cdef unsigned long long[REGISTERS] values
    cdef long long[REGISTERS] starts
    cdef long long[REGISTERS] sizes
    cdef unsigned long long[LEVELS * NOTES] notes
    cdef unsigned long long[LEVELS] seen
    cdef unsigned long long[LEVELS] filled
    cdef unsigned int[LEVELS] messages
    cdef long long[LEVELS] steps
    cdef long long[LEVELS] elements
    cdef unsigned long long[::1] listed_in
    cdef unsigned long long[::1] reacted_in
    cdef unsigned long long serial
    cdef unsigned long long[LEVELS] serials
    cdef unsigned long long[::1] findings
    cdef Py_ssize_t used
    cdef unsigned long long dropped
    cdef unsigned long long frame
    cdef unsigned long long base
    cdef bint newer
    cdef bint dropped_error
    cdef const unsigned char[::1] error_mask

    cdef void report(self, unsigned int rule, int depth, unsigned int number, Py_ssize_t element, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void write_head(self, unsigned int rule, Py_ssize_t size, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void report_field(self, unsigned int rule, int depth, unsigned int number) noexcept nogil
    cdef bint has(self, int depth, unsigned int number) noexcept nogil
    cdef bint holds(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned long long value(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t size(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t start(self, int depth, unsigned int number) noexcept nogil
    cdef bytes content(self, bytes data, int depth, unsigned int number)
    cdef unsigned long long note(self, int depth, int index) noexcept nogil
    cdef void set_note(self, int depth, int index, unsigned long long value) noexcept nogil
    cdef Py_ssize_t slot(self, int depth, unsigned int number) noexcept nogil
