from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_identification(RuleContext context, int depth) noexcept nogil
