from holdfast.backup.rules.hooks cimport Hooks
from holdfast.backup.wire.layout cimport AGED, BOOL, CHECKED, DATED, ENUM, FIXED32, HOOK_AT, KEPT, KIND, LIMIT_AT, MAX_DEPTH, MESSAGE, MOST_MESSAGES, MOST_SLOTS, NOTES, PACKABLE, REFERRING, REPEATED, STRING, TARGET_AT, UINT32, WIDTH, WIRE_TYPE
from holdfast.backup.rules.rule_numbers cimport Hook

cdef class Fields(Hooks):
    cdef unsigned long long[MOST_SLOTS] shapes
    cdef unsigned long long[MOST_SLOTS] clashes
    cdef unsigned long long[4 * MOST_MESSAGES] heads

    cdef void body(self, unsigned int root) noexcept nogil
    cdef void item_body(self) noexcept nogil
    cdef void message(self, unsigned int message, int depth) noexcept nogil
    cdef void revisions(self, size_t begin, int depth) noexcept nogil
    cdef bint passed_over(self, Py_ssize_t slot, unsigned long long shape, unsigned int tag, int depth) noexcept nogil
    cdef bint single(self, Py_ssize_t slot, unsigned long long shape, int depth, unsigned int number) noexcept nogil
    cdef void packed(self, Py_ssize_t slot, unsigned long long shape, int depth, unsigned int number, Py_ssize_t size) noexcept nogil
    cdef unsigned long long named(self, unsigned long long shape, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
    cdef void lacking(self, unsigned int message, int depth) noexcept nogil
    cdef void unchosen(self, unsigned int message, int depth) noexcept nogil
    cdef unsigned int other_tag(self, unsigned int limit) noexcept nogil
