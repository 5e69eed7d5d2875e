"""The process lock of the deliverer."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

from holdfast.hosting.webhooks.process_lock import LOCK, DeliveryLock
from tests.conftest import wait_for

HOLD = """
import pathlib, sys, time
from holdfast.hosting.webhooks.process_lock import DeliveryLock
with DeliveryLock(pathlib.Path(sys.argv[1]), needed=True) as lock:
    assert lock.acquire()
    print("taken", flush=True)
    time.sleep(60)
"""


def test_the_lock_is_held_by_one_process(tmp_path: Path) -> None:
    """A held lock cannot be acquired a second time until its holder has released it."""
    with DeliveryLock(tmp_path, needed=True) as first, DeliveryLock(tmp_path, needed=True) as second:
        assert first.acquire()
        assert first.acquire()
        assert second.acquire() is False
    assert stat.S_IMODE((tmp_path / LOCK).stat().st_mode) == 0o600
    with DeliveryLock(tmp_path, needed=True) as third:
        assert third.acquire()


def test_a_killed_process_releases_the_lock(tmp_path: Path) -> None:
    """The lock of a process that was ended by SIGKILL can be acquired."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"taken\n"
        with DeliveryLock(tmp_path, needed=True) as lock:
            assert not lock.acquire()
            os.kill(process.pid, signal.SIGKILL)
            wait_for(lock.acquire)


def test_no_file_is_created_where_the_lock_is_not_needed(tmp_path: Path) -> None:
    """Where the lock is not needed every process acquires it, and no lock file is created."""
    with DeliveryLock(tmp_path, needed=False) as first, DeliveryLock(tmp_path, needed=False) as second:
        assert first.acquire()
        assert second.acquire()
    assert list(tmp_path.iterdir()) == []
