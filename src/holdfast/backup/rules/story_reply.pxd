from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_text_reply(RuleContext context, int depth) noexcept nogil
