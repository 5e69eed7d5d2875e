"""The notes that a check of one record family leaves for that of another, by their place in a row of notes.

A note is a number about what a message holds, left by the check of the inner message for the outer one. Notes that
stay within a family are numbered there.
"""

from typing import Final

__all__ = ["NOTE_AUTHORS", "NOTE_BODY", "NOTE_CHATS", "NOTE_CONTENT", "NOTE_FLAG"]

# Of whatever holds a text or an attachment: the size of the text, and the flag of the attachment, one more each.
NOTE_BODY: Final = 0
NOTE_FLAG: Final = 1
# Of a chat item: who may have made an update, and in which chats it may stand, as sets of kinds; and whether it is
# a voice message, or holds something to be viewed once.
NOTE_AUTHORS: Final = 5
NOTE_CHATS: Final = 6
NOTE_CONTENT: Final = 7
