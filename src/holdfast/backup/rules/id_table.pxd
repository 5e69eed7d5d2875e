cimport cython

@cython.final
cdef class IdTable:
    cdef int bits
    cdef Py_ssize_t count
    cdef unsigned long long spread
    cdef unsigned long long[::1] keys
    cdef unsigned long long[::1] marks
    cdef unsigned long long[::1] others

    cdef size_t place(self, unsigned long long key) noexcept nogil
    cdef Py_ssize_t find(self, unsigned long long key, unsigned long long frame) noexcept nogil
    cdef unsigned int kind(self, Py_ssize_t at) noexcept nogil
