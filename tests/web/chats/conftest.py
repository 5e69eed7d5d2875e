"""Fixtures: an archive with every kind of message and files, and one in which every text is an attack."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.conversion import OutputFormat
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.single_archive import render_page
from holdfast.web.chats.view import TemplateResult
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.backup.streams import KEYS

EVIL = "<script>alert(1)</script>"
IMAGE = "\"><img src=x onerror=alert(2)> 'quoted' & \u202eturned\u202c \x02bold\x03"

RenderPage = Callable[..., str]
OpenFile = Callable[[Path], OpenArchive]


@pytest.fixture(scope="session")
def archive_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an archive with files beside it, once."""
    home = tmp_path_factory.mktemp("conversation")
    write_sample(sample_records(400, 1), home / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    with archives.open(home / "chats.db", create=True) as opened, backup.open(home / "phone", KEYS) as result:
        opened.add(result)
        assert list(opened.copy_media(result))
    return home / "chats.db"


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an archive in which names, titles, texts, file names and types are attacks, once."""
    home = tmp_path_factory.mktemp("hostile")
    header, frames = copies(200)
    header.currentAppVersion = EVIL
    for frame in frames:
        if frame.HasField("recipient") and frame.recipient.HasField("contact"):
            frame.recipient.contact.profileGivenName = EVIL
            frame.recipient.contact.ClearField("systemGivenName")
            frame.recipient.contact.ClearField("nickname")
        elif frame.HasField("recipient") and frame.recipient.HasField("group"):
            frame.recipient.group.snapshot.title.title = IMAGE
        elif frame.HasField("chatFolder"):
            frame.chatFolder.name = EVIL
    for number, item in enumerate(items(frames)):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = IMAGE if number % 2 else f"{EVIL} evil"
            for attachment in item.standardMessage.attachments:
                attachment.pointer.fileName = EVIL
                attachment.pointer.contentType = "text/html"
                attachment.pointer.caption = IMAGE
            for link in item.standardMessage.linkPreview:
                link.url = "javascript:alert(3)"
                link.title = EVIL
            for reaction in item.standardMessage.reactions:
                reaction.emoji = EVIL
        elif item.HasField("poll"):
            item.poll.question = EVIL
    import_backups(home / "chats.db", write(home / "one", header, frames))
    return home / "chats.db"


@pytest.fixture
def open_file() -> Iterator[OpenFile]:
    """Return a function that opens the archive at a path; the archives are closed afterwards."""
    with ExitStack() as stack:

        def open_path(path: Path) -> OpenArchive:
            return stack.enter_context(closing(open_archive_file(path, path.name)))

        yield open_path


@pytest.fixture
def opened(archive_file: Path) -> Iterator[OpenArchive]:
    """Open the archive."""
    with closing(open_archive_file(archive_file, "chats.db")) as archive:
        yield archive


@pytest.fixture
def hostile_archive(hostile_file: Path) -> Iterator[OpenArchive]:
    """Open the hostile archive."""
    with closing(open_archive_file(hostile_file, EVIL)) as archive:
        yield archive


def shown_in(opened: OpenArchive, path: str, base: str = "", **query: str) -> TemplateResult:
    """Return the template and the values of a page, before it is rendered."""
    answer = respond(opened, base, path, query)
    assert isinstance(answer, TemplateResult)
    return answer


def drawn_in(opened: OpenArchive, path: str, **query: str) -> str:
    """Render a page."""
    return bytes(render_page(opened.name, shown_in(opened, path, **query)).body).decode()


@pytest.fixture
def render(opened: OpenArchive) -> RenderPage:
    """Return a function that renders pages of the archive."""
    return lambda path, **query: drawn_in(opened, path, **query)
