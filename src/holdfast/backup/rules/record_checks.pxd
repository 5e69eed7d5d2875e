from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.rules.value_checks cimport check_number, check_reference, check_span
from holdfast.backup.wire.layout cimport AGED, BOOL, CHECKED, DATED, ENUM, FIXED32, CHECK_AT, KEPT, KIND, LIMIT_AT, MAX_DEPTH, MESSAGE, NOTES, PACKABLE, REFERRING, REPEATED, STRING, TARGET_AT, UINT32, WIDTH, WIRE_TYPE

cdef void check_record(RuleContext context, unsigned int root) noexcept nogil
cdef void check_item_frame(RuleContext context) noexcept nogil
cdef void check_message(RuleContext context, unsigned int message, int depth) noexcept nogil
cdef void check_revisions(RuleContext context, size_t begin, int depth) noexcept nogil
cdef bint is_skipped(RuleContext context, Py_ssize_t slot, unsigned long long shape, unsigned int tag, int depth) noexcept nogil
cdef bint read_number(RuleContext context, Py_ssize_t slot, unsigned long long shape, int depth, unsigned int number) noexcept nogil
cdef void read_packed(RuleContext context, Py_ssize_t slot, unsigned long long shape, int depth, unsigned int number, Py_ssize_t size) noexcept nogil
cdef unsigned long long enum_value(RuleContext context, unsigned long long shape, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
cdef void report_missing(RuleContext context, unsigned int message, int depth) noexcept nogil
cdef void report_unset_oneofs(RuleContext context, unsigned int message, int depth) noexcept nogil
cdef unsigned int read_tag(RuleContext context, unsigned int limit) noexcept nogil
