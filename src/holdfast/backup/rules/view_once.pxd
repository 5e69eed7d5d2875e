from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_view_once(RuleContext context, int depth) noexcept nogil
