"""Redaction of the backups of the corpus."""

import io
import random
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.redaction.badges import BASE_POINT, replace_proof
from holdfast.backup.schema import Frame
from holdfast.backup.wire.walk import walk_record
from tests.backup.redaction.survivors import survivors
from tests.backup.streams import KEYS
from tests.compat.corpus import chat_backups

FILES = [
    *chat_backups("valid", "*.binproto"),
    *chat_backups("invalid", "*.jsonproto"),
    *chat_backups("encrypted", "*.encrypted"),
]


def records_of(source: Path | io.BytesIO) -> list[bytes]:
    """Read all records."""
    with backup.open(source, KEYS) as opened:
        return [opened.header, *(frame.raw for frame in opened)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_redaction_removes_content_and_keeps_the_structure(path: Path) -> None:
    """Each redacted record has the same length and fields, and no content survives."""
    out = io.BytesIO()
    done = backup.redact(path, out, KEYS, seed=1)
    out.seek(0)
    before, after = records_of(path), records_of(out)
    assert (done.frames, done.damaged) == (len(before) - 1, 0)
    assert [len(raw) for raw in before] == [len(raw) for raw in after]
    assert [walk_record(raw) for raw in before[1:]] == [walk_record(raw) for raw in after[1:]]
    assert survivors(before, after) == []


def test_gift_badges_keep_their_form() -> None:
    """Receipt credential presentations of the corpus have the structure that the redaction expects."""
    proofs = [
        message.chatItem.giftBadge.receiptCredentialPresentation
        for path in FILES
        for message in (Frame.FromString(raw) for raw in records_of(path)[1:])
    ]
    assert any(proofs)
    for proof in filter(None, proofs):
        assert replace_proof(proof, random.Random(1)).startswith(b"\0" + BASE_POINT * 5)
