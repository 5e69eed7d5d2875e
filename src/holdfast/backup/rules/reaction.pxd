from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.layout cimport WIDTH

cdef void check_reaction(RuleContext context, int depth) noexcept nogil
