cimport cython

from holdfast.backup.rules.record_checks cimport check_item_frame, check_record
from holdfast.backup.rules.rule_context cimport RuleContext
from holdfast.backup.wire.frames cimport enter_item
from holdfast.backup.wire.layout cimport PAGE

@cython.final
cdef class Checker:
    cdef readonly RuleContext context

cdef bint enter_other(RuleContext context, Py_ssize_t cap) noexcept nogil
