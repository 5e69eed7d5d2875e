cimport cython

from holdfast.backup.rules.id_table cimport IdTable
from holdfast.backup.rules.rule_context cimport RuleContext

@cython.final
cdef class BackupState:
    cdef public unsigned long long made_at
    cdef readonly bytearray muted
    cdef int _purpose
    cdef bytes _error_mask
    cdef bint _spec_only
    cdef IdTable _recipients
    cdef IdTable _chats
    cdef IdTable _colors
    cdef bint _shared
    cdef object _tables
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _accounts
    cdef Py_ssize_t _selves
    cdef Py_ssize_t _release_notes
    cdef Py_ssize_t _folders
    cdef Py_ssize_t _all_folders
    cdef set _seen

    cdef list _add_recipient(self, RuleContext context, bytes data, unsigned long long index)
    cdef void _add_contact(self, RuleContext context, bytes data, list found) except *
    cdef list _add_chat(self, RuleContext context, unsigned long long index)
    cdef void _add_unique(self, int rule, object value, str path, list found) except *
    cdef bint _seen_before(self, int rule, object value) except -1
    cdef void _copy_shared(self) except *

cdef int recipient_kind(RuleContext context) except -1
