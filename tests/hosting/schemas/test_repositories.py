"""SSH URLs of repositories."""

from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.schemas.repositories import ssh_url
from holdfast.settings import Settings
from tests.hosting.api_clients import ServiceClients

OFF = Settings(data=Path("data"))
ON = msgspec.structs.replace(OFF, ssh=True)


@pytest.mark.parametrize(
    ("settings", "root", "expected"),
    [
        (OFF, "http://localhost:3000", "git@localhost:ada/boats.git"),
        (ON, "http://localhost:3000", "ssh://git@localhost:2222/ada/boats.git"),
        (ON, "https://example.org/git", "ssh://git@example.org:2222/ada/boats.git"),
        (ON, "http://[::1]:3000", "ssh://git@[::1]:2222/ada/boats.git"),
        (msgspec.structs.replace(ON, ssh_url_port=22), "https://example.org", "git@example.org:ada/boats.git"),
        (msgspec.structs.replace(ON, ssh_port=22), "https://example.org", "git@example.org:ada/boats.git"),
        (msgspec.structs.replace(ON, ssh_url_port=222), "http://a", "ssh://git@a:222/ada/boats.git"),
        (msgspec.structs.replace(ON, ssh_port=22, ssh_user="forge"), "http://a", "forge@a:ada/boats.git"),
        (OFF, "http://[::1]:3000", "git@[::1]:ada/boats.git"),
    ],
)
def test_the_ssh_address_names_the_port_clients_reach(settings: Settings, root: str, expected: str) -> None:
    """The short form `git@host:path` cannot name a port and is used only for port 22 or while SSH is off."""
    assert ssh_url(settings, root, "ada/boats") == expected


def test_a_repository_has_its_ssh_address(clients: ServiceClients) -> None:
    """The API returns an SSH URL even while SSH is off, as clients expect it."""
    repo = clients.admin.post("/user/repos", json={"name": "boats"}).json()
    assert repo["ssh_url"] == "git@127.0.0.1:admin/boats.git"
