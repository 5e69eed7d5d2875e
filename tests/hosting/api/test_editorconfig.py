"""The endpoint of `.editorconfig` properties."""

from pathlib import Path

from tests.hosting.api.file_helpers import commit_all, make_files
from tests.hosting.api_clients import PASSWORD, ServiceClients

AT = "/repos/ada/Notes/editorconfig"
TEXT = """root = true

[*.py]
indent_style = Space
indent_size = 4
charset = UTF-8
trim_trailing_whitespace = true

[docs/**]
end_of_line = lf

[*.none]
max_line_length = 80
"""


def test_the_properties_of_a_file_are_returned(clients: ServiceClients, tmp_path: Path) -> None:
    """Known properties are returned as texts; a file that no section matches is not found."""
    git = make_files(clients, tmp_path)
    response = clients.anonymous.get(f"{AT}/a.py")
    assert (response.status_code, response.json()["message"]) == (
        404,
        "object does not exist [id: , rel_path: .editorconfig]",
    )
    (git.folder / ".editorconfig").write_text(TEXT)
    commit_all(git, "how to write")
    git("push", "-q", "origin", "main")
    properties = {"charset": "utf-8", "indent_style": "space", "indent_size": "4"}
    assert clients.anonymous.get(f"{AT}/a.py").json() == properties
    assert list(clients.anonymous.get(f"{AT}/a.py").json()) == list(properties)
    assert clients.anonymous.get(f"{AT}/docs/deep/a.py").json() == properties | {"end_of_line": "lf"}
    assert clients.anonymous.get(f"{AT}/docs%2Fx").json() == {"end_of_line": "lf"}
    assert clients.anonymous.get(f"{AT}/a.none").json() == {}
    assert clients.anonymous.get(f"{AT}/a.rb").status_code == 404
    assert clients.anonymous.get(f"{AT}/a.py", params={"ref": "v1.0"}).status_code == 404
    assert clients.anonymous.get(f"{AT}/a.py", params={"ref": "nowhere"}).json() == properties
    assert clients.anonymous.get(f"{AT}/a.py", params={"ref": git("rev-parse", "main")}).json() == properties


def test_an_invalid_editorconfig_is_ignored(clients: ServiceClients, tmp_path: Path) -> None:
    """A file that is too large or a directory gives 404, and a slow pattern gives 422."""
    git = make_files(clients, tmp_path)
    (git.folder / ".editorconfig").write_bytes(b"[*]\ncharset=x\n" + b"#" * (8 * 2**20))
    commit_all(git, "large")
    git("push", "-q", "origin", "main:large")
    (git.folder / ".editorconfig").write_text(("[" + "**a" * 500 + "b]\n") * 5000)
    commit_all(git, "slow")
    git("push", "-q", "origin", "main:slow")
    (git.folder / ".editorconfig").unlink()
    (git.folder / ".editorconfig").mkdir()
    (git.folder / ".editorconfig" / "x").write_text("")
    commit_all(git, "directory")
    git("push", "-q", "origin", "main")
    assert clients.anonymous.get(f"{AT}/a", params={"ref": "large"}).status_code == 404
    assert clients.anonymous.get(f"{AT}/a").status_code == 404
    assert clients.anonymous.get(f"{AT}/{'a' * 900}", params={"ref": "slow"}).status_code == 422


def test_an_empty_repository_has_no_editorconfig(clients: ServiceClients) -> None:
    """An empty repository and an unknown repository have no `.editorconfig`."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    assert clients.anonymous.get(f"{AT}/a").json()["message"] == "repository is empty"
    assert clients.anonymous.get("/repos/ada/Other/editorconfig/a").status_code == 404
