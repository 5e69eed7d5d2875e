from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.layout cimport WIDTH

cdef class Values(RuleContext):
    cdef void check_number(self, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
    cdef void check_twice(self, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
    cdef void check_date(self, size_t slot, int depth, unsigned int number, unsigned long long value) noexcept nogil
    cdef void check_reference(self, size_t slot, int depth, unsigned int number, Py_ssize_t element, unsigned long long value) noexcept nogil
    cdef void check_span(self, size_t slot, int depth, unsigned int number, Py_ssize_t element, Py_ssize_t start, Py_ssize_t size) noexcept nogil
    cdef bint is_service_id(self, Py_ssize_t start, Py_ssize_t size, bint pni) noexcept nogil
    cdef bint is_decimal(self, Py_ssize_t pos, Py_ssize_t end) noexcept nogil
    cdef bint is_username(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef unsigned long long code_points(self, Py_ssize_t pos, Py_ssize_t end) noexcept nogil
