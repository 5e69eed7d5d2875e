"""The dependency graph of an issue: its depth, its size limit and hidden issues."""

import itertools
from typing import Any

import httpx
import pytest

from holdfast.hosting.services import dependencies
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.issues import Issue
from tests.hosting.api_clients import ServiceClients
from tests.hosting.dependency_helpers import SHIP, counting_queries, open_many, relate
from tests.hosting.repository_helpers import READ, let_in, make_repository


def around(client: httpx.Client, path: str, **query: object) -> dict[str, Any]:
    """Ask for the graph around an issue."""
    response = client.get(f"{path}/dependencies/graph", params=query)  # type: ignore[arg-type]  # httpx formats numbers too
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def drawn(graph: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the relations of a graph by the issues' names."""
    names = {node["key"]: f"{node['repository']}#{node['number']}" for node in graph["nodes"]}
    return {(names[edge["issue"]], names[edge["blocker"]]) for edge in graph["edges"]}


@pytest.fixture
def issues(clients: ServiceClients) -> list[Issue]:
    """Give Ada six issues: 1 waits for 2 and 3, which wait for 4; 5 waits for 1, and 6 for 2 alone."""
    ada = clients.account("ada")
    created_issues = open_many(clients.database, make_repository(clients.database, ada), ada, 6)
    pairs = [(1, 2), (1, 3), (2, 4), (3, 4), (5, 1), (5, 4), (6, 2)]
    relate(
        clients.database, [(created_issues[item - 1].id, created_issues[other - 1].id) for item, other in pairs]
    )
    return created_issues


@pytest.mark.usefixtures("issues")
def test_the_graph_contains_dependencies_in_both_directions(clients: ServiceClients) -> None:
    """Each issue is listed once with its distance; an issue that only shares a blocker is not."""
    graph = around(clients.anonymous, f"{SHIP}/1")
    assert [(one["number"], one["depth"]) for one in graph["nodes"]] == [(1, 0), (2, 1), (3, 1), (5, -1), (4, 2)]
    assert [node["key"] for node in graph["nodes"]] == [0, 1, 2, 3, 4]
    ship = "ada/ship#{}".format
    assert drawn(graph) == {
        (ship(item), ship(other)) for item, other in ((1, 2), (1, 3), (2, 4), (3, 4), (5, 1), (5, 4))
    }
    assert graph["truncated"] is False
    assert graph["nodes"][0] == {
        "key": 0,
        "hidden": False,
        "depth": 0,
        "repository": "ada/ship",
        "number": 1,
        "title": "Issue 1",
        "state": "open",
        "is_pull": False,
        "html_url": f"{clients.service.url}/ada/ship/issues/1",
    }
    alone = around(clients.anonymous, f"{SHIP}/6", depth=1)
    assert [node["number"] for node in alone["nodes"]] == [6, 2]


@pytest.mark.usefixtures("issues")
def test_the_depth_limits_the_graph(clients: ServiceClients) -> None:
    """A graph limited by `depth` is marked as truncated, and an invalid depth is refused."""
    near = around(clients.anonymous, f"{SHIP}/1", depth=1)
    assert [node["number"] for node in near["nodes"]] == [1, 2, 3, 5]
    assert near["truncated"] is True
    assert around(clients.anonymous, f"{SHIP}/1", depth=2)["truncated"] is False
    for depth in ("0", "-1", "x", "10001", "9" * 30):
        response = clients.anonymous.get(f"{SHIP}/1/dependencies/graph", params={"depth": depth})
        assert response.status_code == 422
        assert response.json()["message"].startswith("[Depth]:")


def test_the_graph_ends_at_hidden_issues(clients: ServiceClients, issues: list[Issue]) -> None:
    """Hidden issues have no names, and issues behind them are shown only if another path leads there."""
    bob = clients.account("bob")
    secret = make_repository(clients.database, bob, "secret", is_private=True)
    one, other = open_many(clients.database, secret, bob, 2)
    beyond = open_many(clients.database, secret, bob, 1)[0]
    relate(
        clients.database, [(issues[0].id, one.id), (one.id, other.id), (one.id, issues[3].id), (one.id, beyond.id)]
    )
    graph = around(clients.anonymous, f"{SHIP}/1")
    hidden = [node for node in graph["nodes"] if node["hidden"]]
    assert [node["number"] for node in graph["nodes"] if not node["hidden"]] == [1, 2, 3, 5, 4]
    assert hidden == [
        {
            "key": hidden[0]["key"],
            "hidden": True,
            "depth": 1,
            "repository": "",
            "number": 0,
            "title": "HIDDEN",
            "state": "open",
            "is_pull": False,
            "html_url": "",
        }
    ]
    assert "secret" not in str(graph)
    from_hidden = [edge for edge in graph["edges"] if hidden[0]["key"] in edge.values()]
    assert {"issue": 0, "blocker": hidden[0]["key"]} in from_hidden
    let_in(clients.database, secret, find_user(clients.database, "ada"), READ)
    full = around(clients.with_token(find_user(clients.database, "ada")), f"{SHIP}/1")
    assert len(full["nodes"]) == 8
    assert not any(node["hidden"] for node in full["nodes"])


def test_very_large_graphs_are_cut(
    clients: ServiceClients, issues: list[Issue], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph beyond the limit has the nearest issues and is marked as truncated."""
    monkeypatch.setattr(dependencies, "GRAPH_NODES", 4)
    graph = around(clients.anonymous, f"{SHIP}/1")
    assert [node["number"] for node in graph["nodes"]] == [1, 2, 3, 5]
    assert graph["truncated"] is True
    monkeypatch.setattr(dependencies, "GRAPH_NODES", 5)
    assert around(clients.anonymous, f"{SHIP}/1")["truncated"] is False
    assert len(issues) == 6


def test_a_long_chain_takes_no_more_queries_than_a_short_one(
    clients: ServiceClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph of 60 issues takes as many queries as one of three."""
    ada = clients.account("ada")
    created_issues = open_many(clients.database, make_repository(clients.database, ada), ada, 60)
    counts, sizes = [], []
    for pairs in (itertools.pairwise(created_issues[:3]), itertools.pairwise(created_issues[2:])):
        relate(clients.database, [(item.id, other.id) for item, other in pairs])
        with counting_queries(clients.database, monkeypatch) as asked:
            graph = around(clients.anonymous, f"{SHIP}/1")
        counts.append(len(asked))
        sizes.append(len(graph["nodes"]))
    assert sizes == [3, 60]
    assert counts[0] == counts[1] <= 6
