from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_folder(RuleContext context, int depth) noexcept nogil
