from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.layout cimport NOTES, WIDTH

cdef void check_send_status(RuleContext context, int depth) noexcept nogil
cdef void check_outgoing(RuleContext context, int depth) noexcept nogil
cdef void check_incoming(RuleContext context, int depth) noexcept nogil
cdef void check_item(RuleContext context, int depth) noexcept nogil
cdef void check_expiry(RuleContext context, int depth, unsigned int direction) noexcept nogil
cdef void check_revision(RuleContext context, int depth, unsigned int direction, unsigned long long kind) noexcept nogil
cdef void check_place(RuleContext context, int depth, unsigned int author, unsigned long long kind) noexcept nogil
cdef void check_pin(RuleContext context, int depth) noexcept nogil
