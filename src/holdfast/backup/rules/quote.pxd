from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_quote(RuleContext context, int depth) noexcept nogil
