from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_name(RuleContext context, int depth) noexcept nogil
cdef void check_address(RuleContext context, int depth) noexcept nogil
