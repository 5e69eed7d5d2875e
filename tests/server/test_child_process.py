"""Calls of a function in a child process."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.hosting.errors import WrongDataFolder
from holdfast.server.child_process import run_in_child


def test_a_function_runs_in_another_process_and_leaves_no_thread(tmp_path: Path) -> None:
    """Threads that the function starts are in the child process only."""

    def work() -> None:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        (tmp_path / "pid").write_text(str(os.getpid()))

    before = threading.active_count()
    run_in_child(work)
    assert int((tmp_path / "pid").read_text()) != os.getpid()
    assert threading.active_count() == before


def test_an_error_is_raised_in_the_parent() -> None:
    """An error in the child process is raised in the parent with the same type and message."""

    def work() -> None:
        raise WrongDataFolder("the bucket belongs to another installation")

    with pytest.raises(WrongDataFolder, match="the bucket belongs to another installation"):
        run_in_child(work)


def test_a_child_that_dies_is_an_error() -> None:
    """A child process that exits without a result raises `HoldfastError`."""

    def work() -> None:
        os._exit(3)

    with pytest.raises(HoldfastError, match="the start was interrupted"):
        run_in_child(work)
