from holdfast.backup.rules.value_checks cimport Values

cdef class Records(Values):
    cdef void account(self, int depth) noexcept nogil
    cdef void settings(self, int depth) noexcept nogil
    cdef void gradient(self, int depth) noexcept nogil
    cdef void style(self, int depth) noexcept nogil
    cdef void contact(self, int depth) noexcept nogil
    cdef void nickname(self, int depth) noexcept nogil
    cdef void group(self, int depth) noexcept nogil
    cdef void attribute(self, int depth) noexcept nogil
    cdef void member(self, int depth) noexcept nogil
    cdef void invited(self, int depth) noexcept nogil
    cdef bint same(self, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size) noexcept nogil
    cdef void distribution_list(self, int depth) noexcept nogil
    cdef void list_item(self, int depth) noexcept nogil
    cdef void call_link(self, int depth) noexcept nogil
    cdef void chat(self, int depth) noexcept nogil
    cdef void folder(self, int depth) noexcept nogil
