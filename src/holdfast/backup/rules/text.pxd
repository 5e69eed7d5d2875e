from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.layout cimport NOTES, WIDTH

cdef void check_text(RuleContext context, int depth) noexcept nogil
cdef void check_body_range(RuleContext context, int depth) noexcept nogil
cdef void check_standard_message(RuleContext context, int depth) noexcept nogil
