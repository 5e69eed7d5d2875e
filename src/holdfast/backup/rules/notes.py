"""Notes that the check of one record family leaves for that of another, by their index in the row of notes.

A note is a number that the check of a nested message stores for the message that contains it. Notes within a
family are numbered in its module. In the row of a chat item, the families of its content may use the indexes from
`FIRST_CONTENT_NOTE` up to `NOTE_VOICE`, because a chat item has one kind of content.
"""

from typing import Final

__all__ = ["FIRST_CONTENT_NOTE", "NOTE_BODY", "NOTE_CHAT", "NOTE_FLAG", "NOTE_UNKNOWN_ACCESS", "NOTE_VOICE"]

# In a message that contains a text or an attachment: the size of the text, and the flag of the attachment, each
# plus one.
NOTE_BODY: Final = 0
NOTE_FLAG: Final = 1
# In a chat item: the recipient kind of its chat, 0 if unknown and in earlier revisions; and whether it is a voice
# message.
NOTE_CHAT: Final = 0
FIRST_CONTENT_NOTE: Final = 5
NOTE_VOICE: Final = 7
# In the snapshot of a group: a bit for the field number of each setting whose access level is unknown.
NOTE_UNKNOWN_ACCESS: Final = 0
