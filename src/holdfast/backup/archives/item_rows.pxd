cimport cython

from holdfast.backup.wire.cursor cimport Cursor

cdef unsigned long long spread(unsigned long long value) noexcept nogil

cdef unsigned long long place_of(
    unsigned long long chat,
    unsigned long long author,
    unsigned long long first_sent,
    unsigned long long slot,
    unsigned long long rank,
    unsigned long long attempt,
) noexcept nogil

@cython.final
cdef class ItemReader(Cursor):
    cdef bytes raw
    cdef dict people
    cdef dict chats
    cdef dict aliases
    cdef dict chat_aliases
    cdef list rows
    cdef list others
    cdef list statuses
    cdef list reactions
    cdef list parts
    cdef list revisions
    cdef Py_ssize_t text_start
    cdef Py_ssize_t text_end
    cdef bint has_text
    cdef bint with_receipts
    cdef unsigned long long chat
    cdef unsigned long long author
    cdef unsigned long long sent
    cdef unsigned long long first_sent
    cdef unsigned long long received
    cdef unsigned long long server_sent
    cdef unsigned long long expire_start
    cdef unsigned long long expires_in
    cdef unsigned long long slot
    cdef bint has_server_sent
    cdef bint has_expire_start
    cdef bint has_expires_in
    cdef bint read
    cdef bint sealed
    cdef bint sms
    cdef bint rich
    cdef bint odd
    cdef bint link
    cdef bint unsure
    cdef bint stranger
    cdef unsigned int direction
    cdef unsigned int kind
    cdef unsigned int delivery

    cdef unsigned long long digest(self, unsigned int message, int depth) except? 0
    cdef unsigned long long bytes_digest(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef void part(self, unsigned int kind) except *
    cdef bint has_link(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef unsigned int look(self) noexcept nogil
    cdef void item(self) except *
    cdef unsigned long long sent_of(self) noexcept nogil
    cdef void incoming(self) noexcept nogil
    cdef void outgoing(self) except *
    cdef void status(self) except *
    cdef void standard(self) except *
    cdef void sticker(self) except *
    cdef void body(self) except *
    cdef str text(self)
    cdef void reaction(self) except *
    cdef void update(self) noexcept nogil
    cdef object person(self, unsigned long long local)
    cdef list receipts(self)
    cdef list reaction_rows(self, object number)
