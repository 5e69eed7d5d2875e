"""Two nodes with separate folders: shared writes, failover, and recovery of a lost node."""

import base64
import hashlib
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import pytest

from tests.conftest import wait_for
from tests.nodes.cluster import AUTH, Cluster, Node, run_balancer, run_cluster, run_git
from tests.tls import PLAIN

pytestmark = pytest.mark.postgres

WRITES = 12
ROUNDS = 50


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Run two nodes."""
    with run_cluster() as running:
        yield running


def write(client: httpx.Client, repository: str, path: str, content: bytes = b"x") -> str:
    """Commit a file, and return the commit."""
    body = {"content": base64.b64encode(content).decode(), "branch": "main"}
    response = client.post(f"/repos/{repository}/contents/{path}", json=body)
    assert response.status_code == 201, response.text
    commit: str = response.json()["commit"]["sha"]
    return commit


def commits_of(clone: Path) -> list[str]:
    """Return the commits of a clone, the oldest first."""
    return run_git("rev-list", "--reverse", "HEAD", folder=clone).split()


def test_a_write_on_one_node_is_read_on_the_other_at_once(cluster: Cluster) -> None:
    """Commits and branches of the API and pushes of git are visible on the other node immediately."""
    repository = cluster.create_repository("at-once")
    first, second = cluster.nodes
    with first.client() as one, second.client() as other:
        for number in range(WRITES):
            writer, reader = (one, other) if number % 2 else (other, one)
            commit = write(writer, repository, f"{number}.txt", b"%d" % number)
            assert reader.get(f"/repos/{repository}/branches/main").json()["commit"]["id"] == commit
            assert reader.get(f"/repos/{repository}/raw/{number}.txt").content == b"%d" % number
        created = one.post(
            f"/repos/{repository}/branches", json={"new_branch_name": "b", "old_branch_name": "main"}
        )
        assert created.status_code == 201
        assert other.get(f"/repos/{repository}/branches/b").status_code == 200
        assert other.delete(f"/repos/{repository}/branches/b").status_code == 204
        assert one.get(f"/repos/{repository}/branches/b").status_code == 404
    clone = cluster.clone(second, repository, "at-once")
    (clone / "pushed.bin").write_bytes(random.Random(1).randbytes(600_000))
    run_git("add", ".", folder=clone)
    run_git("commit", "-qm", "a pack for the bucket", folder=clone)
    run_git("push", "-q", first.remote(repository), "HEAD:main", folder=clone)
    head = run_git("rev-parse", "HEAD", folder=clone).strip()
    assert [cluster.branch(node, repository) for node in cluster.nodes] == [head, head]
    fresh = cluster.clone(second, repository, "at-once-2")
    assert commits_of(fresh) == commits_of(clone)
    run_git("fsck", "--strict", folder=fresh)


def test_writers_on_both_nodes_to_one_branch_lose_no_commit(cluster: Cluster) -> None:
    """Every acknowledged commit is in the branch, once, and its event arrives once, in order."""
    repository = cluster.create_repository("one-branch")
    acknowledged: list[str] = []

    def run(node: Node, label: str) -> None:
        with node.client() as client:
            for number in range(WRITES):
                acknowledged.append(write(client, repository, f"{label}/{number}"))  # noqa: PERF401  # as they come

    writers = [
        threading.Thread(target=run, args=(node, f"{index}-{writer}"))
        for index, node in enumerate(cluster.nodes)
        for writer in range(3)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(acknowledged) == 6 * WRITES
    commits = commits_of(cluster.clone(cluster.nodes[1], repository, "one-branch"))
    assert sorted(commits[1:]) == sorted(acknowledged)
    wait_for(lambda: len(cluster.receiver.pushes(repository)) >= len(acknowledged), seconds=60)
    assert cluster.receiver.pushes(repository) == commits[1:]


@contextmanager
def clock_ahead(node: Node, minutes: int) -> Iterator[None]:
    """Start a node again with a clock that is ahead."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed (Debian's package faketime)")
    usual = node.environment
    clock = {"LD_PRELOAD": str(library), "FAKETIME": f"+{minutes}m", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    node.kill()
    node.environment = {**usual, **clock}
    node.start()
    try:
        yield
    finally:
        node.kill()
        node.environment = usual
        node.start()


def test_nodes_whose_clocks_differ_lose_and_delay_nothing(cluster: Cluster) -> None:
    """Events arrive in order and at once, also those of a node whose clock is ahead and that is no more.

    An S3 server refuses requests whose time differs by more than 15 minutes. Deliveries the killed node had made
    and not yet recorded are made again: delivery is at least once.
    """
    repository = cluster.create_repository("clocks")
    first, second = cluster.nodes
    with clock_ahead(second, minutes=10):
        with first.client() as one, second.client() as other:
            offset = parsedate_to_datetime(other.get("/version").headers["date"]).timestamp() - time.time()
            assert 590 < offset < 610
            commits = [write((one, other)[number % 2], repository, f"{number}") for number in range(WRITES)]
            commits.append(write(other, repository, "last"))
        second.kill()
        wait_for(lambda: set(commits) <= set(cluster.receiver.pushes(repository)), seconds=60)
        assert list(dict.fromkeys(cluster.receiver.pushes(repository))) == commits
        assert commits_of(cluster.clone(first, repository, "clocks"))[1:] == commits


def test_a_log_in_and_an_lfs_object_are_shared(cluster: Cluster) -> None:
    """A session of one node is valid on the other, and an LFS object of one is downloaded from the other."""
    repository = cluster.create_repository("shared")
    first, second = cluster.nodes
    with httpx.Client(verify=PLAIN, timeout=60) as browser:
        login = {"name": AUTH[0], "password": AUTH[1]}
        assert browser.post(f"{first.url}/login", data=login).status_code == 303
        assert browser.get(f"{second.url}/").text.count("Log out") == 1
    content = random.Random(2).randbytes(9_000_000)
    oid = hashlib.sha256(content).hexdigest()
    media = {"Accept": "application/vnd.git-lfs+json"}
    # The address to upload to is that of the load balancer.
    with (
        run_balancer(cluster),
        httpx.Client(auth=AUTH, verify=PLAIN, timeout=60, headers=media) as client,
    ):
        batch = {"operation": "upload", "objects": [{"oid": oid, "size": len(content)}]}
        response = client.post(f"{first.url}/{repository}.git/info/lfs/objects/batch", json=batch)
        upload = response.json()["objects"][0]["actions"]["upload"]["href"]
        assert client.put(upload, content=content).status_code == 200
        batch["operation"] = "download"
        response = client.post(f"{second.url}/{repository}.git/info/lfs/objects/batch", json=batch)
        download = response.json()["objects"][0]["actions"]["download"]["href"]
    assert httpx.get(download, verify=PLAIN).content == content


def test_a_node_can_be_killed_and_wiped(cluster: Cluster) -> None:
    """A node that restarts with an empty folder has all commits."""
    repository = cluster.create_repository("wiped")
    first, second = cluster.nodes
    with first.client() as client:
        commits = [write(client, repository, f"{number}") for number in range(5)]
    first.kill()
    first.wipe()
    with second.client() as client:
        commits.append(write(client, repository, "meanwhile"))
    first.start()
    with first.client() as client:
        commits.append(write(client, repository, "after"))
    clone = cluster.clone(first, repository, "wiped")
    assert commits_of(clone)[1:] == commits
    run_git("fsck", "--strict", folder=clone)


def test_a_missing_or_damaged_local_copy_is_rebuilt(cluster: Cluster) -> None:
    """A running service rebuilds a copy whose folder was moved away or whose state file is invalid."""
    repository = cluster.create_repository("broken")
    node = cluster.nodes[0]
    with node.client() as client:
        write(client, repository, "a", b"one")
        assert client.get(f"/repos/{repository}/raw/a").content == b"one"
        for damage in ("remove", "state"):
            for copy in (node.folder / "repositories").rglob("*.git"):
                if damage == "remove":
                    copy.rename(copy.with_suffix(".gone"))
                else:
                    (copy / "holdfast-copy").write_text("torn")
            commit = write(client, repository, f"after-{damage}")
            assert client.get(f"/repos/{repository}/branches/main").json()["commit"]["id"] == commit
            assert client.get(f"/repos/{repository}/raw/a").content == b"one"
            assert cluster.branch(node, repository) == commit


def test_a_client_of_the_load_balancer_does_not_notice_that_a_node_dies(cluster: Cluster) -> None:
    """The other node answers API requests and a clone through the address of the load balancer."""
    repository = cluster.create_repository("balanced")
    first = cluster.nodes[0]
    with (
        run_balancer(cluster) as url,
        httpx.Client(base_url=f"{url}/api/v1", auth=AUTH, timeout=60, verify=PLAIN) as client,
    ):
        commits = [write(client, repository, f"before/{number}") for number in range(4)]
        first.kill()
        # The balancer asks every second, and gives a node up after two failures.
        wait_for(lambda: all(httpx.get(f"{url}/readyz", verify=PLAIN).status_code == 200 for _ in range(4)), 30)
        commits += [write(client, repository, f"after/{number}") for number in range(4)]
        target = cluster.folder / "balanced"
        address = f"http://{AUTH[0]}:{AUTH[1]}@127.0.0.1:{cluster.balancer_port}/{repository}.git"
        run_git("clone", "-q", address, str(target))
        assert commits_of(target)[1:] == commits
        first.start()


def test_the_load_balancer_passes_on_no_address_that_a_client_claims(cluster: Cluster) -> None:
    """Clients in a trusted network, such as that of the machine, are counted by their own address too."""
    with (
        run_balancer(cluster) as url,
        httpx.Client(base_url=url, timeout=60, verify=PLAIN, headers={"X-Forwarded-Proto": "https"}) as client,
    ):
        responses = [
            client.get("/api/v1/user", auth=("nobody", f"wrong-{n}"), headers={"X-Forwarded-For": f"192.0.2.{n}"})
            for n in range(20)
        ]
    assert responses[0].status_code == 401
    assert responses[-1].status_code == 429


class Writer(threading.Thread):
    """A thread that commits files through a random node, and records the acknowledged commits."""

    def __init__(self, cluster: Cluster, repository: str, label: str) -> None:
        super().__init__(daemon=True)
        self.cluster = cluster
        self.repository = repository
        self.label = label
        self.acknowledged: list[str] = []
        self.unexpected: list[str] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        """Write until stopped; during a fault the service may answer 503 or nothing, and nothing else."""
        number = 0
        while not self.stopped.is_set():
            node = random.choice(self.cluster.nodes)  # for a test
            number += 1
            body = {"content": base64.b64encode(b"%d" % number).decode()}
            key = {"Idempotency-Key": f"{self.label}-{number}"}
            try:
                with node.client() as client:
                    url = f"/repos/{self.repository}/contents/{self.label}/{number}"
                    response = client.post(url, json=body, headers=key)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if response.status_code == 201:
                self.acknowledged.append(response.json()["commit"]["sha"])
            elif response.status_code not in {503, 507}:
                self.unexpected.append(f"{response.status_code} {response.text[:200]}")
            else:
                time.sleep(0.05)


class Pusher(threading.Thread):
    """A thread that pushes commits with a large file to its own branch."""

    def __init__(self, cluster: Cluster, repository: str, clone: Path) -> None:
        super().__init__(daemon=True)
        self.cluster = cluster
        self.repository = repository
        self.clone = clone
        self.acknowledged: list[str] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        """Push until stopped."""
        number = 0
        while not self.stopped.is_set():
            number += 1
            (self.clone / "large.bin").write_bytes(random.Random(number).randbytes(400_000))
            run_git("add", ".", folder=self.clone)
            run_git("commit", "-qm", f"{number}", folder=self.clone)
            node = random.choice(self.cluster.nodes)  # for a test
            try:
                run_git("push", "-q", node.remote(self.repository), "HEAD:refs/heads/pushed", folder=self.clone)
            except AssertionError:
                time.sleep(0.05)
                continue
            self.acknowledged.append(run_git("rev-parse", "HEAD", folder=self.clone).strip())


def kill_something(cluster: Cluster, dice: random.Random) -> None:
    """Kill a node, PostgreSQL or the S3 server, and start it again; a node may lose its folder."""
    match dice.choice(["node", "node", "wipe", "postgres", "s3"]):
        case "postgres":
            cluster.postgres.kill()
        case "s3":
            cluster.s3.stop(signal.SIGKILL)
            time.sleep(dice.uniform(0, 0.5))
            cluster.s3.start()
        case victim:
            node = dice.choice(cluster.nodes)
            node.kill()
            if victim == "wipe":
                node.wipe()
            node.start()


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_random_kills_lose_no_confirmed_write() -> None:
    """Nodes, PostgreSQL and the S3 server are killed; no acknowledged write is lost and every event arrives."""
    dice = random.Random(18)
    with run_cluster() as cluster:
        repository = cluster.create_repository("killed")
        pusher = Pusher(cluster, repository, cluster.clone(cluster.nodes[0], repository, "pusher"))
        writers = [Writer(cluster, repository, f"w{number}") for number in range(3)]
        threads: list[Writer | Pusher] = [*writers, pusher]
        for thread in threads:
            thread.start()
        try:
            for _ in range(ROUNDS):
                time.sleep(dice.uniform(0.1, 1.0))
                kill_something(cluster, dice)
        finally:
            for thread in threads:
                thread.stopped.set()
            for thread in threads:
                thread.join(120)
        assert [writer.unexpected for writer in writers] == [[], [], []]
        acknowledged = [commit for writer in writers for commit in writer.acknowledged]
        assert len(acknowledged) > ROUNDS
        assert pusher.acknowledged
        heads = {cluster.branch(node, repository) for node in cluster.nodes}
        assert len(heads) == 1
        # A copy made anew from the database and the bucket alone.
        for node in cluster.nodes:
            node.kill()
            node.wipe()
        cluster.nodes[0].start()
        clone = cluster.clone(cluster.nodes[0], repository, "rebuilt")
        run_git("fsck", "--strict", folder=clone)
        commits = commits_of(clone)
        assert set(acknowledged) <= set(commits)
        pushed = run_git("rev-list", "origin/pushed", folder=clone).split()
        assert set(pusher.acknowledged) <= set(pushed)
        wait_for(lambda: set(commits[1:]) <= set(cluster.receiver.pushes(repository)), seconds=180)
        arrived = [commit for commit in cluster.receiver.pushes(repository) if commit in set(commits)]
        assert list(dict.fromkeys(arrived)) == commits[1:], "each commit has its event, in order"
