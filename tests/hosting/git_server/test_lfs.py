"""Git LFS over HTTP: batches, transfers and locks."""

import hashlib
from contextlib import contextmanager

import httpx
import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import GoneMeanwhile
from holdfast.hosting.lfs.store import object_key
from holdfast.hosting.services import repositories as making
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store import lfs as store
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import run_service
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.storage.fake_bucket import Bucket, serve_bucket
from tests.tls import PLAIN

ACCEPT = {"Accept": "application/vnd.git-lfs+json", "Content-Type": "application/vnd.git-lfs+json"}
CONTENT = b"a large file, in a manner of speaking" * 1000
OID = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def lfs(clients: ServiceClients) -> httpx.Client:
    """Make a private repository, and a client of its owner's below its LFS address."""
    clients.account("ada")
    clients.account("eve")
    body = {"name": "media", "private": True}
    assert clients.anonymous.post("/user/repos", json=body, auth=("ada", PASSWORD)).status_code == 201
    return clients.open("/ada/media.git/info/lfs", "ada", **ACCEPT)


def batch(client: httpx.Client, operation: str, *items: tuple[str, int], **more: object) -> httpx.Response:
    """Send a batch request for some objects."""
    objects = [{"oid": oid, "size": size} for oid, size in items]
    return client.post("/objects/batch", json={"operation": operation, "objects": objects, **more})


def upload(client: httpx.Client) -> None:
    """Upload and verify the object with the actions of a batch response."""
    actions = batch(client, "upload", (OID, len(CONTENT))).json()["objects"][0]["actions"]
    sent = actions["upload"]
    assert httpx.put(sent["href"], content=CONTENT, headers=sent["header"]).status_code == 200
    checked = actions["verify"]
    verified = httpx.post(
        checked["href"], json={"oid": OID, "size": len(CONTENT)}, headers={**ACCEPT, **checked["header"]}
    )
    assert verified.status_code == 200


def test_an_object_is_uploaded_once_and_downloaded(lfs: httpx.Client) -> None:
    """A known object needs no upload action, and a download supports ranges."""
    upload(lfs)
    assert "actions" not in batch(lfs, "upload", (OID, len(CONTENT))).json()["objects"][0]
    action = batch(lfs, "download", (OID, len(CONTENT))).json()["objects"][0]["actions"]["download"]
    assert httpx.get(action["href"], headers=action["header"]).content == CONTENT
    rest = httpx.get(action["href"], headers={**action["header"], "Range": "bytes=100-"})
    assert (rest.status_code, rest.content) == (206, CONTENT[100:])
    beyond = httpx.get(action["href"], headers={**action["header"], "Range": "bytes=99999999-"})
    assert beyond.status_code == 416


def test_a_damaged_object_is_uploaded_again(clients: ServiceClients, lfs: httpx.Client) -> None:
    """A client is asked for the bytes of a truncated object, and any upload replaces damaged bytes."""
    upload(lfs)
    path = clients.service.settings.data / object_key(OID)
    path.write_bytes(CONTENT[:-1])
    upload(lfs)
    assert path.read_bytes() == CONTENT
    path.write_bytes(bytes(len(CONTENT)))
    assert lfs.put(f"/objects/{OID}/{len(CONTENT)}", content=CONTENT).status_code == 200
    assert path.read_bytes() == CONTENT


def test_content_with_another_hash_or_size_is_refused(lfs: httpx.Client) -> None:
    """An upload with a wrong hash or size gets 422, a huge size 413, and no object is stored."""
    assert lfs.put(f"/objects/{OID}/{len(CONTENT)}", content=b"x" * len(CONTENT)).status_code == 422
    assert lfs.put(f"/objects/{OID}/3", content=CONTENT).status_code == 422
    assert lfs.put(f"/objects/{OID}/{10**17}", content=b"").status_code == 413
    response = batch(lfs, "download", (OID, len(CONTENT))).json()["objects"][0]
    assert response["error"]["code"] == 404


def test_knowing_an_id_is_not_enough_to_download(clients: ServiceClients, lfs: httpx.Client) -> None:
    """An object is not found from another repository, and a private one requires access."""
    upload(lfs)
    clients.anonymous.post("/user/repos", json={"name": "mine"}, auth=("eve", PASSWORD))
    eve = clients.open("/eve/mine.git/info/lfs", "eve", **ACCEPT)
    assert batch(eve, "download", (OID, len(CONTENT))).json()["objects"][0]["error"]["code"] == 404
    assert "upload" in batch(eve, "upload", (OID, len(CONTENT))).json()["objects"][0]["actions"]
    assert eve.get(f"/objects/{OID}").status_code == 404
    foreign = clients.open("/ada/media.git/info/lfs", "eve", **ACCEPT)
    assert batch(foreign, "download", (OID, 1)).status_code == 404
    stranger = clients.open("/ada/media.git/info/lfs", **ACCEPT)
    asked = batch(stranger, "download", (OID, 1))
    assert (asked.status_code, asked.headers["www-authenticate"]) == (401, 'Basic realm="Gitea"')


@pytest.mark.parametrize("operation", ["upload", "\\u0075pload"])
def test_readers_cannot_upload(clients: ServiceClients, lfs: httpx.Client, operation: str) -> None:
    """A reader gets 403 for an upload, even if `upload` is written with a JSON escape in the batch."""
    clients.anonymous.patch("/repos/ada/media", json={"private": False}, auth=("ada", PASSWORD))
    eve = clients.open("/ada/media.git/info/lfs", "eve", **ACCEPT)
    content = f'{{"operation": "{operation}", "objects": []}}'
    assert eve.post("/objects/batch", content=content.encode()).status_code == 403
    assert eve.put(f"/objects/{OID}/{len(CONTENT)}", content=CONTENT).status_code == 403


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b'{"operation": "steal"}', {}, 400),
        (b'{"operation": "download", "hash_algo": "md5"}', {}, 409),
        (b'{"operation": "download", "transfers": ["tus"]}', {}, 422),
        (b"{}", {"Accept": "text/html"}, 415),
    ],
)
def test_an_invalid_batch_is_refused(
    lfs: httpx.Client, content: bytes, headers: dict[str, str], status: int
) -> None:
    """An invalid batch request is refused with a JSON body that has a message."""
    response = lfs.post("/objects/batch", content=content, headers=headers)
    assert response.status_code == status
    assert response.json()["message"]


def test_invalid_objects_have_errors_of_their_own(lfs: httpx.Client) -> None:
    """Invalid objects of a batch get 422 each, and the valid one is answered."""
    upload(lfs)
    items = [("../../etc/passwd", 1), (OID, -1), (OID, 5), (OID, len(CONTENT))]
    responses = batch(lfs, "download", *items).json()["objects"]
    assert [response.get("error", {}).get("code") for response in responses] == [422, 422, 422, None]


def test_a_path_is_locked_by_one_and_unlocked_by_them_or_by_force(
    clients: ServiceClients, lfs: httpx.Client
) -> None:
    """A second lock gets 409 with the existing lock, and another writer can unlock only with `force`."""
    clients.anonymous.put("/repos/ada/media/collaborators/eve", json={}, auth=("ada", PASSWORD))
    eve = clients.open("/ada/media.git/info/lfs", "eve", **ACCEPT)
    response = lfs.post("/locks", json={"path": "a/film.mp4"})
    assert (response.status_code, response.json()["lock"]["owner"]) == (201, {"name": "ada"})
    number = response.json()["lock"]["id"]
    taken = eve.post("/locks", json={"path": "a/film.mp4"})
    assert (taken.status_code, taken.json()["lock"]["id"]) == (409, number)
    assert [lock["path"] for lock in eve.get("/locks").json()["locks"]] == ["a/film.mp4"]
    checked = eve.post("/locks/verify", json={}).json()
    assert (len(checked["ours"]), len(checked["theirs"])) == (0, 1)
    assert eve.post(f"/locks/{number}/unlock", json={}).status_code == 403
    assert eve.post(f"/locks/{number}/unlock", json={"force": True}).status_code == 200
    assert lfs.post(f"/locks/{number}/unlock", json={}).status_code == 404
    assert lfs.post("/locks", json={"path": "../x"}).status_code == 400


def test_locks_are_verified_by_who_may_push(clients: ServiceClients, lfs: httpx.Client) -> None:
    """A reader may list locks and gets 403 from the verify request, which a client sends before a push."""
    lfs.post("/locks", json={"path": "a/film.mp4"})
    reader = {"permission": "read"}
    clients.anonymous.put("/repos/ada/media/collaborators/eve", json=reader, auth=("ada", PASSWORD))
    eve = clients.open("/ada/media.git/info/lfs", "eve", **ACCEPT)
    assert len(eve.get("/locks").json()["locks"]) == 1
    refused = eve.post("/locks/verify", json={})
    assert (refused.status_code, refused.json()["message"]) == (403, "you may not write to this repository")
    assert (
        clients.open("/ada/media.git/info/lfs", None, **ACCEPT).post("/locks/verify", json={}).status_code == 401
    )


def test_an_unavailable_bucket_is_reported(settings: Settings, database: Database) -> None:
    """Each LFS request gets 503 with a JSON message if the bucket fails, and no response has its key."""
    accounts.create_user(database, "ada", Secret(PASSWORD), email="ada@example.org")
    with serve_bucket() as bucket, contextmanager(run_service)(strange(settings, bucket), database) as service:
        client = httpx.Client(base_url=service.url, auth=("ada", PASSWORD), headers=ACCEPT, verify=PLAIN)
        with client:
            assert client.post("/api/v1/user/repos", json={"name": "media"}).status_code == 201
            store.link(database, repositories.find_repository(database, "ada", "media"), OID, len(CONTENT))
            at, item = "/ada/media.git/info/lfs", {"oid": OID, "size": len(CONTENT)}
            answers = [
                *(
                    client.post(f"{at}/objects/batch", json={"operation": operation, "objects": [item]})
                    for operation in ("download", "upload")
                ),
                client.post(f"{at}/verify", json=item),
                client.get(f"{at}/objects/{OID}"),
                client.put(f"{at}/objects/{OID}/{len(CONTENT)}", content=CONTENT),
            ]
    received = [
        (answer.status_code, "the bucket bucket cannot be used" in answer.json()["message"]) for answer in answers
    ]
    assert received == [(503, True)] * 5
    assert not any("hunter2" in response.text for response in answers)


def strange(settings: Settings, bucket: Bucket) -> Settings:
    """Return settings of a bucket with an access key that it does not accept."""
    return msgspec.structs.replace(
        settings,
        s3_bucket="bucket",
        s3_endpoint=bucket.url,
        s3_region="x",
        s3_access_key=Secret("STRANGER"),
        s3_secret_key=Secret("hunter2"),
    )


def test_a_repository_deleted_during_an_upload_is_reported(app: App) -> None:
    """An object cannot be linked to a repository that was deleted during the upload."""
    admin = accounts.find_user(app.database, "admin")
    repository = making.create(app, admin, admin, making.NewRepository(name="ship"), {})
    making.remove(app, repository, admin)
    with pytest.raises(GoneMeanwhile, match="admin/ship was deleted in the meantime"):
        store.link(app.database, repository, OID, len(CONTENT))
