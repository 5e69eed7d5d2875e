"""The files and names that the examples in the docstrings of the library use."""

from pathlib import Path

import holdfast.backup as hb
from holdfast.backup.conversion import OutputFormat
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample

__all__ = ["EXAMPLE_KEY_FILE", "write_example_files"]

EXAMPLE_KEY_FILE = "recovery-key = " + "abcd" * 16 + "\naccount-id = 659aa5f4-a28d-fcc1-1ea1-b997537a3d95\n"


def write_example_files(folder: Path) -> None:
    """Write the backup and the folder that the examples name."""
    write_sample(sample_records(200, 1), folder / "chats.binproto", OutputFormat.STREAM, seed=1)
    keys = hb.read_keys(EXAMPLE_KEY_FILE)
    write_sample(sample_records(200, 1), folder / "phone", OutputFormat.FOLDER, seed=1, keys=keys)
