cimport cython

from holdfast.backup.wire.cursor cimport Cursor

@cython.final
cdef class PartReader(Cursor):
    cdef bytes raw
    cdef dict people
    cdef dict by_aci
    cdef bint odd
    cdef public list quotes
    cdef public list ranges
    cdef public list attachments
    cdef public list extra
    cdef public list links
    cdef public list stickers
    cdef public Py_ssize_t files
    cdef list pending_ranges

    cdef str text_of(self)
    cdef bytes bytes_of(self)
    cdef str uuid(self)
    cdef unsigned long long word(self) noexcept nogil
    cdef void range(self) except *
    cdef void quote(self, object number) except *
    cdef tuple attachment(self, object number, str role, object n, str content, str name)
    cdef void quoted(self, object number, object n) except *
    cdef void link(self, object number) except *
    cdef void sticker(self, object number) except *
    cdef void file(self, object number, str role, object n, tuple pointer, str flag) except *
    cdef tuple pointer(self)
    cdef tuple locator(self)
    cpdef write_ranges(self, object number, str part)
    cpdef bint read(self, object number, list parts) except *
