from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_contact(RuleContext context, int depth) noexcept nogil
cdef void check_nickname(RuleContext context, int depth) noexcept nogil
