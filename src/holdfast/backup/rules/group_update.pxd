from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_member_added(RuleContext context, int depth) noexcept nogil
