"""Two nodes on one PostgreSQL and one S3 server: what the second adds, and what a node without copies costs.

Nodes, PostgreSQL, the S3 server and the writers share the cores of one machine. Where those are busy with one
node, a second cannot add anything; the share of the cores that is used says whether that is so.
"""

import base64
import http.client
import itertools
import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import httpx
from tests.nodes.cluster import Cluster, Node, run_cluster, run_git

from bench.harness import Figure
from holdfast.hosting.storage.object_store import open_object_store
from holdfast.settings import Settings

__all__ = ["figures"]

WRITERS = 16
SECONDS = 6.0
ROUNDS = 3
MEGABYTES = 100


def busy_seconds() -> float:
    """Return the processor time the machine has used since it was started."""
    numbers = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    idle = numbers[3] + numbers[4]
    return (sum(numbers[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def rate(nodes: Sequence[Node], token: str, numbers: "itertools.count[int]") -> tuple[float, float]:
    """Return the commits a second of all writers, each in its own repository, and the share of cores in use."""
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    done = [0] * WRITERS
    until = time.monotonic() + SECONDS

    def write(index: int) -> None:
        node = nodes[index % len(nodes)]
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
        while time.monotonic() < until:
            body = json.dumps({"content": base64.b64encode(b"%d" % next(numbers)).decode()})
            path = f"/api/v1/repos/admin/w{index}/contents/f{next(numbers)}"
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 201, answer.status
            done[index] += 1
        connection.close()

    before = busy_seconds()
    threads = [threading.Thread(target=write, args=(index,)) for index in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = (busy_seconds() - before) / (SECONDS * (os.cpu_count() or 1))
    return sum(done) / SECONDS, 100 * used


def cold(cluster: Cluster, token: str) -> tuple[float, float]:
    """Return the seconds of the first read of a large repository on a new node, and of fetching its packs."""
    first, second = cluster.nodes
    # With a token: a password takes a tenth of a second to be checked.
    with httpx.Client(headers={"Authorization": f"token {token}"}, timeout=300) as client:
        client.post(f"{first.url}/api/v1/user/repos", json={"name": "large", "auto_init": True}).raise_for_status()
        clone = cluster.clone(first, "admin/large", "large")
        for number in range(MEGABYTES):
            (clone / f"{number}.bin").write_bytes(random.Random(number).randbytes(2**20))
        run_git("add", ".", folder=clone)
        run_git("commit", "-qm", "large", folder=clone)
        run_git("push", "-q", first.remote("admin/large"), "HEAD:main", folder=clone)
        reads, fetches = [], []
        store = open_object_store(cluster.s3.settings(Settings(data=cluster.folder / "reader")))
        keys = [one.key for one in store.list("packs/")]
        for _ in range(ROUNDS):
            second.kill()
            second.wipe()
            second.start()
            client.get(f"{second.url}/api/v1/user").raise_for_status()
            began = time.perf_counter()
            client.get(f"{second.url}/api/v1/repos/admin/large/raw/1.bin").raise_for_status()
            reads.append(time.perf_counter() - began)
            with tempfile.TemporaryDirectory(dir=cluster.folder) as folder:
                began = time.perf_counter()
                for number, key in enumerate(keys):
                    store.fetch(key, Path(folder, str(number)))
                fetches.append(time.perf_counter() - began)
    return median(reads), median(fetches)


def figures() -> list[Figure]:
    """Measure."""
    numbers = itertools.count()
    with run_cluster() as cluster:
        with cluster.nodes[0].client() as client:
            for index in range(WRITERS):
                body = {"name": f"w{index}", "auto_init": True}
                client.post("/user/repos", json=body).raise_for_status()
            made = client.post("/users/admin/tokens", json={"name": "bench", "scopes": ["all"]})
            token = made.raise_for_status().json()["sha1"]
        one_node, two_nodes = cluster.nodes[:1], cluster.nodes
        measured = [(rate(one_node, token, numbers), rate(two_nodes, token, numbers)) for _ in range(ROUNDS)]
        read, fetched = cold(cluster, token)
    one = median(first for (first, _), _ in measured)
    two = median(second for _, (second, _) in measured)
    return [
        Figure(f"commits of {WRITERS} writers, one node", one, "commits/s"),
        Figure(f"commits of {WRITERS} writers, two nodes", two, "commits/s"),
        Figure("two nodes, against one", two / one, "times", least=1.6),
        Figure("cores in use with one node", median(used for (_, used), _ in measured), "%"),
        Figure(f"first read of {MEGABYTES} MB on a new node", read, "s"),
        Figure("first read, against fetching the packs", read / fetched, "times", most=1.5),
    ]
