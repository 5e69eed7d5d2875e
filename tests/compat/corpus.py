"""The location of the test corpus: beside the checkout, or the folder that HOLDFAST_CORPUS names."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("HOLDFAST_CORPUS", Path(__file__).parents[2].parent / "shared" / "corpus"))
ABSENT = f"no corpus at {FOLDER}: set HOLDFAST_CORPUS to the folder that holds chat-backups/"


def chat_backups(folder: str, pattern: str) -> list[Path]:
    """List files of the chat backup corpus; skip the calling module when there are none."""
    results = sorted((FOLDER / "chat-backups" / folder).glob(pattern))
    if not results:
        pytest.skip(ABSENT, allow_module_level=True)
    return results
