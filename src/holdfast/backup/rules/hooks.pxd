from holdfast.backup.rules.items cimport Items
from holdfast.backup.rules.rule_numbers cimport Hook

cdef class Hooks(Items):
    cdef void run_hook(self, unsigned int hook, int depth) noexcept nogil
    cdef void run_record_hook(self, unsigned int hook, int depth) noexcept nogil
