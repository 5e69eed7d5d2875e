from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_account(RuleContext context, int depth) noexcept nogil
cdef void check_settings(RuleContext context, int depth) noexcept nogil
