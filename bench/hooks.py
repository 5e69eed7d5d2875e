"""What a list of webhooks costs: twenty of an organization, asked for with a token, answered by one processor."""

import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path

from bench.harness import Figure
from bench.load import rate
from bench.service import Whole, bare, serve
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.store import accounts, hooks, organizations, tokens
from holdfast.hosting.store.hooks import HookOwner
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 5
HOOKS = 20
EVENTS = "create,delete,push,issues,issue_assign,issue_label,issue_milestone,issue_comment"


def fill(settings: Settings) -> str:
    """Make an organization with its webhooks, and return a token of its owner's."""
    with open_database(settings) as database:
        prepare(database, settings)
        admin = accounts.find_user(database, "admin")
        ada = accounts.create_user(database, "ada", Secret("a-password-for-a-benchmark"))
        guild = organizations.create_organization(database, ada, "guild")
        for owner in (admin, ada, guild):
            for count in range(HOOKS):
                columns = {"type": "gitea", "content_type": "json", "events": EVENTS, "branch_filter": "main"}
                url = f"https://ci.example.org/hooks/{owner.name}/{count}"
                hooks.add_hook(
                    database, HookOwner("owner", owner.id), {**columns, "name": f"Hook {count}", "url": url}
                )
        _, value = tokens.create_token(database, ada, "bench", ("read:organization", "read:user"))
    return value.reveal()


def figures() -> list[Figure]:
    """Measure the list, and beside it a route of the bare framework, to tell how busy the machine is."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before - {0} or before)
    try:
        return measured()
    finally:
        os.sched_setaffinity(0, before)


def measured() -> list[Figure]:
    """Ask both servers in turn."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), admin_password=Secret("a-password-for-a-benchmark"))
        asked = {"Authorization": f"token {fill(settings)}"}
        context = multiprocessing.get_context("spawn")
        servers, ports = [], []
        for make in (bare, Whole(Settings(data=settings.data))):
            listening = context.Queue()
            server = context.Process(target=serve, args=(make, listening, f"{folder}/log", {0}), daemon=True)
            server.start()
            servers.append(server)
            ports.append(listening.get(timeout=60))
        time.sleep(1)
        path = "/api/v1/orgs/guild/hooks"
        pairs = [(rate(ports[0], "/constant", {}), rate(ports[1], path, asked)) for _ in range(ROUNDS)]
        for server in servers:
            server.terminate()
            server.join()
    constants, lists = zip(*pairs, strict=True)
    return [
        Figure("a bare route that returns a constant", statistics.median(constants), "req/s"),
        Figure(f"GET /orgs/.../hooks, {HOOKS} hooks, with a token", statistics.median(lists), "req/s", least=2500),
    ]
