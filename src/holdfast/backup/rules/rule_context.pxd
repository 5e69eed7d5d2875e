from holdfast.backup.wire.cursor cimport Cursor
from holdfast.backup.wire.layout cimport CHECK_AT, HEAD, LEVELS, LIMIT_AT, MOST_MESSAGES, MOST_SLOTS, NOTES, REGISTERS, WIDTH
from holdfast.backup.rules.id_table cimport IdTable

cdef class RuleContext(Cursor)

# A check of a message that has been read to its end, by how deep it lies.
ctypedef void (*message_check)(RuleContext context, int depth) noexcept nogil

cdef class RuleContext(Cursor):
    cdef unsigned long long[MOST_SLOTS] shapes
    cdef unsigned long long[MOST_SLOTS] clashes
    cdef unsigned long long[4 * MOST_MESSAGES] heads
    cdef message_check[MOST_MESSAGES] message_checks
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

    cdef void add_check(self, unsigned int message, message_check check) except *
    cdef void report(self, unsigned int rule, int depth, unsigned int number, Py_ssize_t element, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void write_head(self, unsigned int rule, Py_ssize_t size, unsigned long long extra, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void report_dropped(self) noexcept nogil
    cdef void report_field(self, unsigned int rule, int depth, unsigned int number) noexcept nogil
    cdef bint has(self, int depth, unsigned int number) noexcept nogil
    cdef bint holds(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned long long value(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t size(self, int depth, unsigned int number) noexcept nogil
    cdef Py_ssize_t start(self, int depth, unsigned int number) noexcept nogil
    cdef unsigned long long note(self, int depth, int index) noexcept nogil
    cdef void set_note(self, int depth, int index, unsigned long long value) noexcept nogil
    cdef Py_ssize_t slot(self, int depth, unsigned int number) noexcept nogil
