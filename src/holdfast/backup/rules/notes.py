"""The notes that a check of one record family leaves for that of another, by their place in a row of notes.

A note is a number about what a message holds, left by the check of the inner message for the outer one. Notes that
stay within a family are numbered there. Of the row of a chat item, a family of what chat items hold may number
those from `FIRST_CONTENT_NOTE` up to `NOTE_VOICE`, because a chat item holds one thing.
"""

from typing import Final

__all__ = ["FIRST_CONTENT_NOTE", "NOTE_BODY", "NOTE_CHAT", "NOTE_FLAG", "NOTE_VOICE"]

# Of whatever holds a text or an attachment: the size of the text, and the flag of the attachment, one more each.
NOTE_BODY: Final = 0
NOTE_FLAG: Final = 1
# Of a chat item: the kind of recipient its chat is with, 0 where that is not known and in earlier revisions; and
# whether it is a voice message.
NOTE_CHAT: Final = 0
FIRST_CONTENT_NOTE: Final = 5
NOTE_VOICE: Final = 7
