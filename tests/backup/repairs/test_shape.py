"""A repaired backup keeps its format: encrypted or not, with or without a token, with the same keys."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.container.cipher import find_layout
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.repairs.shape import TargetShape, choose_shape
from tests.backup.streams import KEYS, LOCAL_KEYS, MODERN_KEYS, container_of, file_forms, folder_of, small_sample

FORMS = {
    "stream": OutputFormat.STREAM,
    "gzip": OutputFormat.STREAM,
    "legacy container": OutputFormat.CONTAINER,
    "modern container": OutputFormat.CONTAINER,
    "lines": OutputFormat.JSONL,
    "zip": OutputFormat.JSONL,
    "array": OutputFormat.JSON,
    "json5": OutputFormat.JSON,
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_that_of_the_original(name: str) -> None:
    """The repaired backup has the format of the original unless another is requested."""
    file = io.BytesIO(dict(file_forms(small_sample()))[name])
    with backup.open(file, MODERN_KEYS) as source:
        assert choose_shape(source, file, None, MODERN_KEYS).to is FORMS[name]
        assert choose_shape(source, file, OutputFormat.STREAM, MODERN_KEYS) == TargetShape(
            OutputFormat.STREAM, MODERN_KEYS
        )


def test_an_encrypted_file_keeps_its_layout_and_what_it_says_about_its_token(tmp_path: Path) -> None:
    """A legacy container stays legacy although a token is given, and a modern one keeps its metadata."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(container_of(small_sample()))
    new.write_bytes(container_of(small_sample(), modern=True))
    with backup.open(old, MODERN_KEYS) as source:
        assert choose_shape(source, None, None, MODERN_KEYS) == TargetShape(OutputFormat.CONTAINER, KEYS)
    with backup.open(new, MODERN_KEYS) as source, new.open("rb") as file:
        shape = choose_shape(source, None, None, MODERN_KEYS)
        assert shape == TargetShape(OutputFormat.CONTAINER, MODERN_KEYS, find_layout(file).forward_secrecy)
        assert shape.forward_secrecy is not None


def test_what_was_no_encrypted_file_takes_the_keys_as_they_are() -> None:
    """For a source without a readable layout, the keys are used as given."""
    file = io.BytesIO(dict(file_forms(small_sample()))["stream"])
    with backup.open(file) as source:
        assert choose_shape(source, file, OutputFormat.CONTAINER, MODERN_KEYS) == TargetShape(
            OutputFormat.CONTAINER, MODERN_KEYS
        )
    with backup.open(io.BytesIO(container_of(small_sample())), KEYS) as source:
        assert choose_shape(source, None, None, MODERN_KEYS) == TargetShape(OutputFormat.CONTAINER, MODERN_KEYS)


def test_the_recovery_key_is_enough_for_a_folder(tmp_path: Path) -> None:
    """The backup id is read from the metadata of the folder unless that is damaged."""
    snapshot = folder_of(small_sample(), tmp_path)
    with backup.open(snapshot, LOCAL_KEYS) as source:
        shape = choose_shape(source, None, None, LOCAL_KEYS)
        assert shape == TargetShape(OutputFormat.CONTAINER, replace(LOCAL_KEYS, backup_id=KEYS.own_backup_id()))
        (snapshot / "metadata").write_bytes(b"damaged")
        assert choose_shape(source, None, None, LOCAL_KEYS) == TargetShape(OutputFormat.CONTAINER, LOCAL_KEYS)
