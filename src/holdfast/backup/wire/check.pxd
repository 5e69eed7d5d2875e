cimport cython

from holdfast.backup.wire.items cimport Items

@cython.final
cdef class Checker(Items):
    cdef void body(self, unsigned int root) noexcept nogil
    cdef void only_body(self) noexcept nogil
    cdef void message(self, unsigned int message, int depth) noexcept nogil
    cdef void fields(self, unsigned int message, int depth, bint again) noexcept nogil
    cdef bint passed_over(self, Py_ssize_t slot, int depth, unsigned int number) noexcept nogil
    cdef bint delimited(self, Py_ssize_t slot, unsigned int shape, int depth, unsigned int number, bint again) noexcept nogil
    cdef bint single(self, Py_ssize_t slot, unsigned int shape, int depth, unsigned int number) noexcept nogil
    cdef void packed(self, Py_ssize_t slot, unsigned int shape, int depth, unsigned int number, Py_ssize_t size) noexcept nogil
    cdef unsigned long long named(self, Py_ssize_t slot, unsigned int shape, int depth, unsigned int number, unsigned long long value) noexcept nogil
    cdef void complete(self, unsigned int message, int depth) noexcept nogil
    cdef void together(self, unsigned int hook, int depth) noexcept nogil
    cdef void together_in_records(self, unsigned int hook, int depth) noexcept nogil
    cdef unsigned int other_tag(self, unsigned int limit) noexcept nogil
    cdef inline unsigned long long quick_varint(self) noexcept nogil
    cdef inline Py_ssize_t quick_length(self) noexcept nogil
    cdef bint only_item(self) noexcept nogil
