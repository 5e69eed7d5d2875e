from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.layout cimport WIDTH

cdef void check_number(RuleContext context, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
cdef void check_twice(RuleContext context, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
cdef void check_date(RuleContext context, size_t slot, int depth, unsigned int number, unsigned long long value) noexcept nogil
cdef void check_reference(RuleContext context, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
cdef void check_span(RuleContext context, size_t slot, int depth, unsigned int number, Py_ssize_t element, Py_ssize_t start, Py_ssize_t size) noexcept nogil
cdef bint is_service_id(RuleContext context, Py_ssize_t start, Py_ssize_t size, bint pni) noexcept nogil
cdef bint is_decimal(RuleContext context, Py_ssize_t pos, Py_ssize_t end) noexcept nogil
cdef bint is_username(RuleContext context, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef unsigned long long code_points(RuleContext context, Py_ssize_t pos, Py_ssize_t end) noexcept nogil
