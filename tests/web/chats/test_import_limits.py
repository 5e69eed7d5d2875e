"""Limits of imports by account and address, and the import queue."""

from pathlib import Path

import pytest

from holdfast.web.chats.import_limits import (
    ImportClient,
    ImportQueueFull,
    ImportRateLimited,
    acquire_slot,
    record_start,
)


def test_an_account_and_an_address_are_counted_apart(tmp_path: Path) -> None:
    """An account with many addresses and an address with many accounts are both limited for an hour."""
    for number in range(3):
        record_start(tmp_path, ImportClient(1, f"192.0.2.{number}"), 3, now=1000.0 + number)
    with pytest.raises(ImportRateLimited) as excinfo:
        record_start(tmp_path, ImportClient(1, "192.0.2.9"), 3, now=1010.0)
    assert excinfo.value.seconds == 3591
    record_start(tmp_path, ImportClient(1, "192.0.2.9"), 3, now=4700.0)
    for number in range(2):
        record_start(tmp_path, ImportClient(10 + number, "192.0.2.9"), 3, now=4701.0)
    with pytest.raises(ImportRateLimited):
        record_start(tmp_path, ImportClient(20, "192.0.2.9"), 3, now=4702.0)


def test_an_ipv6_network_is_one_address_and_no_address_is_stored(tmp_path: Path) -> None:
    """Addresses of one /64 network share a limit, and a client without an IP address is accepted."""
    record_start(tmp_path, ImportClient(None, "2001:db8:1:2::1"), 1, now=1.0)
    with pytest.raises(ImportRateLimited):
        record_start(tmp_path, ImportClient(None, "2001:db8:1:2:ffff::9"), 1, now=2.0)
    record_start(tmp_path, ImportClient(None, "2001:db8:1:3::1"), 1, now=2.0)
    record_start(tmp_path, ImportClient(None, "unix"), 1, now=2.0)
    assert b"2001" not in (tmp_path / "starts").read_bytes()
    assert (tmp_path / "starts").stat().st_mode & 0o777 == 0o600


def test_an_unreadable_count_starts_again(tmp_path: Path) -> None:
    """A truncated file of counts is ignored: the import may start, and the next ones are counted."""
    (tmp_path / "starts").write_bytes(b"{")
    record_start(tmp_path, ImportClient(1, "192.0.2.1"), 1, now=1.0)
    with pytest.raises(ImportRateLimited):
        record_start(tmp_path, ImportClient(1, "192.0.2.1"), 1, now=2.0)


def test_the_queue_is_bounded_and_slots_are_released(tmp_path: Path) -> None:
    """An import beyond the limit is refused with status 503 until another one closes its slot."""
    first, second = acquire_slot(tmp_path, 2), acquire_slot(tmp_path, 2)
    with pytest.raises(ImportQueueFull) as excinfo:
        acquire_slot(tmp_path, 2)
    assert excinfo.value.status == 503
    assert excinfo.value.seconds > 0
    first.close()
    acquire_slot(tmp_path, 2).close()
    second.close()


def test_viewers_are_of_three_kinds() -> None:
    """A viewer is a writer, a reader or a visitor, by account and permission to write."""
    kinds = [ImportClient(1, may_write=True).kind, ImportClient(1).kind, ImportClient(None).kind]
    assert kinds == ["writer", "reader", "visitor"]
