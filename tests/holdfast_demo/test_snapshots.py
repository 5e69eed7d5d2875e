"""The snapshots of the demo."""

import io

from holdfast import backup
from holdfast.backup.compare import diff
from holdfast_demo.snapshots import MESSAGES, snapshots


def test_the_later_snapshot_has_more_and_lacks_nothing() -> None:
    """Both snapshots are valid, and the later one has 300 messages more and lacks none."""
    earlier, later = snapshots()
    for content in (earlier, later):
        assert not [finding for finding in backup.validate(io.BytesIO(content)) if finding.severity == "error"]
    with backup.open(io.BytesIO(earlier)) as source, backup.open(io.BytesIO(later)) as other:
        difference = diff(source, other)
    assert difference.messages_after == MESSAGES
    assert difference.messages_after - difference.messages_before > 300
    assert sum(chat.added for chat in difference.chats) == difference.messages_after - difference.messages_before
    assert not any(chat.removed for chat in difference.chats)
