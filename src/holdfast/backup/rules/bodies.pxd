from holdfast.backup.wire.layout cimport NOTES
from holdfast.backup.wire.layout cimport WIDTH as ROW
from holdfast.backup.rules.records cimport Records

cdef class Bodies(Records):
    cdef void text(self, int depth) noexcept nogil
    cdef void body_range(self, int depth) noexcept nogil
    cdef void standard(self, int depth) noexcept nogil
    cdef void text_reply(self, int depth) noexcept nogil
    cdef void attachment(self, int depth) noexcept nogil
    cdef void file(self, int depth) noexcept nogil
    cdef void locator(self, int depth) noexcept nogil
    cdef void quote(self, int depth) noexcept nogil
    cdef void reaction(self, int depth) noexcept nogil
    cdef void card_name(self, int depth) noexcept nogil
    cdef void address(self, int depth) noexcept nogil
    cdef void coins(self, int depth) noexcept nogil
    cdef void gift(self, int depth) noexcept nogil
    cdef void poll(self, int depth) noexcept nogil
    cdef void vote(self, int depth) noexcept nogil
    cdef void pin(self, int depth) noexcept nogil
