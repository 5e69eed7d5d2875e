from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_gradient(RuleContext context, int depth) noexcept nogil
cdef void check_style(RuleContext context, int depth) noexcept nogil
