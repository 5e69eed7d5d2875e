from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_simple_update(RuleContext context, int depth) noexcept nogil
cdef void check_update(RuleContext context, int depth) noexcept nogil
