from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_attachment(RuleContext context, int depth) noexcept nogil
cdef void check_file(RuleContext context, int depth) noexcept nogil
cdef void check_locator(RuleContext context, int depth) noexcept nogil
