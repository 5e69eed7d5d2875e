from holdfast.backup.rules.rule_context cimport RuleContext

cdef void check_poll(RuleContext context, int depth) noexcept nogil
cdef void check_vote(RuleContext context, int depth) noexcept nogil
