"""The repository log on two machines, compared with a plain git repository as a model."""

import dataclasses
import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import settings as configuration
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git.commits import Signature, build_tree, commit_content
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import AcceptedPush, PushRejection
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.services import branches, repositories
from holdfast.hosting.services.branches import NewTag
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.pushes import RepositoryPush
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.storage import compaction, pack_files
from holdfast.hosting.storage.batch_queue import BatchQueue
from holdfast.hosting.storage.compaction import Compactor
from holdfast.hosting.storage.local_copies import LocalCopies
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.examples import examples
from tests.hosting.git.oracle import new_repository
from tests.hosting.git.serving import Client, Served, running

WHO = Signature("Ada", "ada@example.org", 1_700_000_000)
ZERO = "0" * 40
INLINE_LIMIT = 2000
NODES = st.sampled_from([0, 1])
NAMES = st.sampled_from(["main", "a", "a/b", "c"])
PATHS = st.sampled_from(["x", "d/y", "d/e/z"])
SIZES = st.sampled_from([1, 100, 5000])
# How many lines the file has that pushes edit: enough that a delta is much smaller.
LINES = 400

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


def second_node(app: App, folder: Path) -> App:
    """Return another machine: the same database and object store, and a folder of its own."""
    folder.mkdir(exist_ok=True)
    copies = LocalCopies(Folders(folder / "repositories"), app.database, app.store)
    compactor = Compactor(app.database, app.store, copies, "second")
    return dataclasses.replace(app, copies=copies, compactor=compactor, commit_queue=BatchQueue())


@dataclasses.dataclass
class ServedNode(Served):
    """A machine that takes pushes over HTTP into its local copies and the log."""

    app: App | None = None
    deltas: int = 0
    """How many objects were received as deltas."""

    def pushing(self, folder: Path) -> RepositoryPush:
        """Return the service that takes a push to a repository."""
        assert self.app is not None
        database = self.app.database
        return RepositoryPush(
            self.app, repository_by_id(database, int(folder.stem)), accounts.find_user(database, "admin")
        )

    def update(self, folder: Path, pushed: AcceptedPush) -> Sequence[PushRejection]:
        """Record a push, and count its deltas: of those, `git verify-pack` names the base too."""
        for name in pushed.packs:
            index = folder / "objects" / "pack" / f"{name.removesuffix('.pack')}.idx"
            rows = run(folder, "verify-pack", "-v", str(index)).decode().splitlines()
            self.deltas += sum(len(row.split()) == 7 for row in rows if "chain length" not in row)
        return self.pushing(folder).update(pushed)


class Storage(RuleBasedStateMachine):
    """A state machine: every write and clean-up on either machine, compared with the model."""

    nodes: tuple[App, App]
    served: tuple[ServedNode, ServedNode]
    folder: Path
    count = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).count += 1
        self.step = 0
        self.owner = accounts.find_user(self.nodes[0].database, "admin")
        self.actor = Actor(self.owner)
        self.model = open_repository(new_repository(self.folder / f"model-{self.count}.git"))
        self.refs: dict[str, str] = {}
        self.commits: list[str] = []

    @initialize()
    def create(self) -> None:
        """Make a repository with a commit."""
        new = NewRepository(name=f"r{self.count}")
        self.id = repositories.create(self.nodes[0], self.owner, self.owner, new).id
        self.commit(0, "main", "x", 1)
        self.commit_file(0, "main", "large", self.edited(None))

    @property
    def row(self) -> Repository:
        """The repository as it is now."""
        return repository_by_id(self.nodes[0].database, self.id)

    def target(self, node: int) -> RepositoryAccess:
        """Return the repository with the permissions of its owner."""
        permissions = repositories.permissions_in(self.nodes[node], self.actor, self.row)
        return RepositoryAccess(self.row, permissions)

    def content(self, size: int) -> bytes:
        """Return unique content that hardly compresses."""
        self.step += 1
        return (b"%d %d\n" % (self.count, self.step)) + bytes((self.step * 7 + n * n) % 251 for n in range(size))

    def files_of(self, commit: str) -> dict[str, bytes]:
        """Return the files of a commit of the model."""
        listed = run(self.model.folder, "ls-tree", "-r", "-z", commit).split(b"\0")
        rows = (line.partition(b"\t") for line in listed if line)
        return {path.decode(): self.model.read(meta.split()[2].decode(), "blob") for meta, _, path in rows}

    def model_commit(self, parent: str | None, path: str, content: bytes, message: str) -> str:
        """Commit a file to the model, on top of a parent."""
        files = {} if parent is None else self.files_of(parent)
        tree = build_tree(self.model.write, {**files, path: content})
        text = commit_content(tree, () if parent is None else (parent,), WHO, WHO, message)
        created = self.model.write("commit", text)
        self.commits.append(created)
        return created

    def set_ref(self, ref: str, new: str | None) -> None:
        """Set or delete a ref of the model."""
        if new is None:
            run(self.model.folder, "update-ref", "-d", ref)
            del self.refs[ref]
        else:
            run(self.model.folder, "update-ref", ref, new)
            self.refs[ref] = new

    def room_for(self, ref: str) -> bool:
        """Return whether git allows a new ref beside the others."""
        return not any(f"{item}/".startswith(f"{ref}/") or f"{ref}/".startswith(f"{item}/") for item in self.refs)

    def attempt(self, expected: bool, change: Any) -> bool:  # noqa: FBT001  # what the model says
        """Make a change, and check that it succeeds exactly if the model allows it."""
        try:
            change()
        except HostingError:
            assert not expected
            return False
        assert expected
        return True

    @rule(node=NODES, name=NAMES, path=PATHS, size=SIZES)
    def commit(self, node: int, name: str, path: str, size: int) -> None:
        """Commit a file through the API, on a branch or on a new one."""
        self.commit_file(node, name, path, self.content(size))

    def commit_file(self, node: int, name: str, path: str, content: bytes) -> None:
        """Commit a file with some content."""
        ref, message = f"refs/heads/{name}", f"{self.step}\n"
        change = FileChange(operation="upload", path=path, content=FileContent(content))
        is_first = not self.refs
        if ref not in self.refs and not is_first and "refs/heads/main" not in self.refs:
            return
        new_branch = name if ref not in self.refs and not is_first else ""
        request = CommitRequest(
            repository=self.row,
            actor=self.owner,
            changes=[change],
            author=WHO,
            committer=WHO,
            message=message,
            branch="" if new_branch or is_first else name,
            new_branch=new_branch,
        )
        expected = not new_branch or self.room_for(ref)
        created: list[str] = []
        landed = self.attempt(expected, lambda: created.append(commit_files(self.nodes[node], request).commit.id))
        if landed:
            parent = self.refs.get(ref) or self.refs.get("refs/heads/main")
            assert created == [self.model_commit(parent, path, content, message)]
            self.set_ref("refs/heads/main" if is_first else ref, created[0])

    @rule(
        node=NODES,
        names=st.lists(NAMES, min_size=1, max_size=3, unique=True),
        data=st.data(),
        size=SIZES,
        force=st.booleans(),
        atomic=st.booleans(),
    )
    def push(
        self, node: int, names: list[str], data: st.DataObject, size: int, *, force: bool, atomic: bool
    ) -> None:
        """Push commits that were made elsewhere to some branches, over their history or on top of it."""
        updates = []
        for name in names:
            ref = f"refs/heads/{name}"
            parent = data.draw(st.sampled_from(self.commits)) if force else self.refs.get(ref)
            new = self.model_commit(parent, "pushed", self.content(size), "pushed\n")
            updates.append(RefUpdate(ref, self.refs.get(ref, ZERO), new))
        app = self.nodes[node]
        copy = app.copies.update(self.id).folder
        given = "".join(f"{update.new}\n" for update in updates)
        known = "".join(f"^{item}\n" for item in set(self.refs.values()))
        path = copy / "objects" / "pack"
        path.mkdir(exist_ok=True)
        packed = run(
            self.model.folder, "pack-objects", "--revs", "-q", str(path / "pack"), input=(given + known).encode()
        )
        push = AcceptedPush(tuple(updates), (), atomic, (f"pack-{packed.decode().strip()}.pack",))
        rejected = {item.ref for item in RepositoryPush(app, self.row, self.owner).update(push)}
        refused = set()
        for update in updates:
            if update.ref not in self.refs and not self.room_for(update.ref):
                refused.add(update.ref)
            elif not atomic:
                self.set_ref(update.ref, update.new)
        if atomic and len(updates) > 1:
            beside = [f"{update.ref}/" for update in updates if update.creates]
            if any(item != two and item.startswith(two) for item in beside for two in beside):
                refused = {update.ref for update in updates}
        if atomic and refused:
            assert rejected == {update.ref for update in updates}
        else:
            assert rejected == refused
            for update in updates if atomic else ():
                self.set_ref(update.ref, update.new)

    def edited(self, parent: str | None) -> bytes:
        """Return a large file with another line than it has in a commit."""
        known = {} if parent is None else self.files_of(parent)
        new = "\n".join(hashlib.sha256(b"%d" % number).hexdigest() for number in range(LINES))
        lines = known.get("large", new.encode()).split(b"\n")
        self.step += 1
        lines[self.step * 37 % LINES] = b"%d %d" % (self.count, self.step)
        return b"\n".join(lines)

    @rule(
        node=NODES,
        names=st.lists(NAMES, max_size=3, unique=True),
        kind=st.sampled_from(["on top", "over history", "back"]),
        tag=st.sampled_from(["", "lightweight", "annotated"]),
        refused=st.sampled_from(["", "", "refs/holdfast/x", "refs/heads/main/below"]),
        deletes=st.booleans(),
        atomic=st.booleans(),
        data=st.data(),
    )
    def push_with_git(
        self,
        node: int,
        names: list[str],
        data: st.DataObject,
        *,
        kind: Literal["on top", "over history", "back"],
        tag: Literal["", "lightweight", "annotated"],
        refused: str,
        deletes: bool,
        atomic: bool,
    ) -> None:
        """Push as people do: edits of a large file, of which git sends deltas against what the service has.

        Several refs at once, tags and deletions among them, and one that is refused: alone, or with all others if
        the push is atomic.
        """
        wanted: dict[str, str | None] = {}
        for ref in (f"refs/heads/{name}" for name in names):
            beside = any(f"{item}/".startswith(f"{ref}/") or f"{ref}/".startswith(f"{item}/") for item in wanted)
            if beside or (ref not in self.refs and not self.room_for(ref)):
                continue
            if kind == "back":
                wanted[ref] = data.draw(st.sampled_from(self.reachable()))
                continue
            parent = self.refs.get(ref) or self.refs["refs/heads/main"]
            if kind == "over history":
                parent = data.draw(st.sampled_from(self.commits))
            wanted[ref] = self.model_commit(parent, "large", self.edited(parent), "edited\n")
        at = data.draw(st.sampled_from(self.reachable()))
        if tag and self.room_for("refs/tags/t"):
            who = f"Ada <ada@example.org> 1700000000 +0000\n\n{self.step}\n"
            content = f"object {at}\ntype commit\ntag t\ntagger {who}".encode()
            wanted["refs/tags/t"] = self.model.write("tag", content) if tag == "annotated" else at
        others = sorted(self.refs.keys() - wanted.keys() - {"refs/heads/main"})
        if deletes and others:
            wanted[data.draw(st.sampled_from(others))] = None
        if wanted or refused:
            self.push_refs(node, wanted, {refused: at} if refused else {}, atomic=atomic)

    def push_refs(
        self, node: int, wanted: dict[str, str | None], refused: dict[str, str], *, atomic: bool = False
    ) -> None:
        """Run `git push`; compare the copy that received it, and one rebuilt from the log, with the model."""
        specs = [f"+{new or ''}:{ref}" for ref, new in {**wanted, **refused}.items()]
        self.nodes[node].copies.update(self.id)
        options = ("--quiet", "--atomic") if atomic else ("--quiet",)
        client, address = Client(self.model.folder), self.served[node].address(self.id)
        client.git("push", *options, address, *specs, fails=bool(refused))
        if not (atomic and refused):
            for ref, new in wanted.items():
                self.set_ref(ref, new)
        self.nodes[1 - node].copies.discard(self.id)
        for app in self.nodes:
            self.check(app.copies.open(self.row))

    @rule(node=NODES, name=NAMES, data=st.data(), kind=st.sampled_from(["branch", "tag", "annotated"]))
    def create_ref(
        self, node: int, name: str, data: st.DataObject, kind: Literal["branch", "tag", "annotated"]
    ) -> None:
        """Make a branch or a tag anywhere in the history of the refs."""
        app, target = self.nodes[node], self.target(node)
        at = data.draw(st.sampled_from(self.reachable()))
        ref = f"refs/heads/{name}" if kind == "branch" else f"refs/tags/{name}"
        expected = self.room_for(ref) and (kind != "branch" or f"refs/tags/{name}" not in self.refs)
        made: list[str] = []

        def change() -> None:
            if kind == "branch":
                made.append(branches.create(app, self.actor, target, name, at).id)
            else:
                message = "annotated" if kind == "annotated" else ""
                new = NewTag(name=name, message=message, revision=at)
                made.append(branches.create_tag(app, self.actor, target, new).id)

        if self.attempt(expected, change):
            if kind == "annotated":
                self.model.write("tag", app.copies.update(self.id).read(made[0], "tag"))
            else:
                assert made == [at]
            self.set_ref(ref, made[0])

    def reachable(self) -> list[str]:
        """Return the commits that refs lead to, in their order."""
        listed = set(run(self.model.folder, "rev-list", "--all").decode().split())
        return [commit for commit in self.commits if commit in listed]

    @rule(node=NODES, data=st.data())
    def update_branch(self, node: int, data: st.DataObject) -> None:
        """Point a branch to another commit by force."""
        ref = data.draw(st.sampled_from([ref for ref in self.refs if ref.startswith("refs/heads/")]))
        at = data.draw(st.sampled_from(self.reachable()))
        name = ref.removeprefix("refs/heads/")
        branches.update(self.nodes[node], self.actor, self.target(node), name, at, force=True)
        self.set_ref(ref, at)

    @precondition(lambda self: len(self.refs) > 1)
    @rule(node=NODES, data=st.data())
    def delete_ref(self, node: int, data: st.DataObject) -> None:
        """Delete a branch or a tag."""
        others = [ref for ref in self.refs if ref != "refs/heads/main"]
        ref = data.draw(st.sampled_from(others))
        app, target, name = self.nodes[node], self.target(node), ref.split("/", 2)[2]
        if ref.startswith("refs/heads/"):
            branches.delete(app, self.actor, target, name)
        else:
            branches.delete_tag(app, self.actor, target, name)
        self.set_ref(ref, None)

    @rule(node=NODES)
    def compact(self, node: int) -> None:
        """Merge packs."""
        assert self.nodes[node].compactor.compact(self.id)

    @rule(node=NODES)
    def collect_garbage(self, node: int) -> None:
        """Delete what no ref leads to."""
        assert self.nodes[node].compactor.collect_garbage(self.id, retention_seconds=-10)

    @rule(node=NODES)
    def delete_packs(self, node: int) -> None:
        """Delete replaced and unrecorded packs after the grace period."""
        compactor, later = self.nodes[node].compactor, time.time() + 1_000_000
        compactor.delete_superseded(now=later)
        compactor.delete_orphans(now=later)

    @rule(node=NODES)
    def discard_copy(self, node: int) -> None:
        """Discard a local copy."""
        self.nodes[node].copies.discard(self.id)

    @rule(node=NODES)
    def read(self, node: int) -> None:
        """Open a local copy, and compare it with the model."""
        self.check(self.nodes[node].copies.open(self.row))

    def check(self, repo: Repo) -> None:
        """Compare a copy with the model: the refs, and every object reachable from them."""
        with self.nodes[0].database.read() as connection:
            assert repository_log.read_refs(connection, self.id) == self.refs
        listed = run(repo.folder, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
        assert dict(line.split() for line in listed) == self.refs
        run(repo.folder, "fsck", "--full", "--strict")
        both = [run(item.folder, "rev-list", "--objects", "--all") for item in (repo, self.model)]
        assert sorted(both[0].splitlines()) == sorted(both[1].splitlines())

    def teardown(self) -> None:
        """Compare both machines with the model, with their current copies and with rebuilt ones."""
        if self.refs:
            for app in self.nodes:
                self.check(app.copies.open(self.row))
            self.nodes[1].copies.discard(self.id)
            self.check(self.nodes[1].copies.open(self.row))
        shutil.rmtree(self.model.folder)


@pytest.fixture
def nodes(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[App, App]:
    """Open two machines on which even small packs are put to the object store."""
    monkeypatch.setattr(pack_files, "INLINE_LIMIT", INLINE_LIMIT)
    monkeypatch.setattr(compaction, "GEOMETRIC_FACTOR", 4)
    return app, second_node(app, tmp_path / "second")


@pytest.fixture
def served(nodes: tuple[App, App]) -> Iterator[tuple[ServedNode, ServedNode]]:
    """Let git push to both machines."""
    both = (serve_node(nodes[0]), serve_node(nodes[1]))
    with ExitStack() as stack:
        for item in both:
            stack.enter_context(running(item))
        yield both


def serve_node(app: App) -> ServedNode:
    """Return the service of a machine."""
    served = ServedNode(app.folders, app=app)
    served.judge = lambda push: served.pushing(push.folder).judge(push)
    return served


@pytest.mark.hypothesis
def test_two_machines_are_one_repository(
    nodes: tuple[App, App], served: tuple[ServedNode, ServedNode], tmp_path: Path
) -> None:
    """Two machines have the same content after any sequence of writes, deletions, compactions and losses."""
    machine = type("Storage", (Storage,), {"nodes": nodes, "served": served, "folder": tmp_path})
    steps = configuration(max_examples=examples(32), stateful_step_count=12)
    run_state_machine_as_test(machine, settings=steps)


def test_an_edit_is_pushed_as_a_delta(
    nodes: tuple[App, App], served: tuple[ServedNode, ServedNode], tmp_path: Path
) -> None:
    """An edit of a large file is pushed as a delta, so that the model test covers packs with deltas."""
    machine = type("Storage", (Storage,), {"nodes": nodes, "served": served, "folder": tmp_path})()
    machine.create()
    for node in (0, 1):
        main = machine.refs["refs/heads/main"]
        created = machine.model_commit(main, "large", machine.edited(main), "edited\n")
        machine.push_refs(node, {"refs/heads/main": created}, {})
        assert served[node].deltas > 0
    machine.teardown()
