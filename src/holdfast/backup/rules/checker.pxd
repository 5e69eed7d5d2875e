cimport cython

from holdfast.backup.rules.record_checks cimport Fields
from holdfast.backup.wire.layout cimport PAGE

@cython.final
cdef class Checker(Fields):
    cdef inline bint into_item(self) noexcept nogil
    cdef bint next_other(self, Py_ssize_t cap) noexcept nogil
