from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_list(RuleContext context, int depth) noexcept nogil
cdef void check_list_item(RuleContext context, int depth) noexcept nogil
