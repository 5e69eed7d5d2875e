cdef bint is_within(unsigned int code, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
