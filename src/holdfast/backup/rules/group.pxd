from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.rules.value_checks cimport is_service_id

cdef void check_group(RuleContext context, int depth) noexcept nogil
cdef void check_attribute(RuleContext context, int depth) noexcept nogil
cdef void check_member(RuleContext context, int depth) noexcept nogil
cdef void check_pending_member(RuleContext context, int depth) noexcept nogil
cdef bint same_bytes(RuleContext context, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size) noexcept nogil
