from holdfast.backup.wire.cursor cimport Cursor

cdef unsigned int kind(Cursor cursor) noexcept nogil
cdef bint is_plain(Cursor cursor) noexcept nogil
cdef bint enter_item(Cursor cursor) noexcept nogil
