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
    cpdef Py_ssize_t room(self)
    cpdef bint knows(self, unsigned long long key)
    cpdef unsigned int kind_of(self, unsigned long long key)
    cpdef void add(self, unsigned long long key, unsigned int kind, unsigned long long frame, unsigned long long other=*) except *
    cdef void grow(self) except *
