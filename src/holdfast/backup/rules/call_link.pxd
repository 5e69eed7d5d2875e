from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_call_link(RuleContext context, int depth) noexcept nogil
