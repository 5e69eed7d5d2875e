from holdfast.backup.wire.items cimport Items

cdef class Hooks(Items):
    cdef void together(self, unsigned int hook, int depth) noexcept nogil
    cdef void together_in_records(self, unsigned int hook, int depth) noexcept nogil
