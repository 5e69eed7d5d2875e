"""Cycles and distances in the dependency graph, compared with an exhaustive search."""

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependency_graph import distances, edges_around, find_cycle
from tests.examples import examples
from tests.hosting.dependency_helpers import open_many, relate
from tests.hosting.repository_helpers import make_repository

NODES = 7
counter = itertools.count()


def all_ways(edges: set[tuple[int, int]], start: int, end: int) -> list[tuple[int, ...]]:
    """Return every path from one issue to another, by trying all of them."""
    results: list[tuple[int, ...]] = []
    going: list[tuple[int, ...]] = [(start,)]
    while going:
        way = going.pop()
        if way[-1] == end:
            results.append(way)
        else:
            going += [(*way, ahead) for here, ahead in edges if here == way[-1] and ahead not in way]
    return results


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))),
    new=st.tuples(st.integers(0, NODES - 1), st.sets(st.integers(0, NODES - 1), min_size=1, max_size=3)),
)
def test_the_shortest_cycle_is_found(
    database: Database, ada: Account, pairs: set[tuple[int, int]], new: tuple[int, set[int]]
) -> None:
    """The shortest cycle that a new dependency would close is found exactly when there is one."""
    # The numbers grow along every relation, so what is there has no circle.
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    repository = make_repository(database, ada, f"r{next(counter)}")
    ids = [issue.id for issue in open_many(database, repository, ada, NODES)]
    if edges:
        relate(database, [(ids[item], ids[other]) for item, other in edges])
    issue, blockers = new
    with database.read() as connection:
        path = find_cycle(connection, ids[issue], [ids[blocker] for blocker in blockers])
        around = edges_around(connection, ids[issue], most=100)
    ways = [way for blocker in blockers for way in all_ways(edges, blocker, issue)]
    if not ways:
        assert path == ()
    else:
        numbers = [ids.index(number) for number in path]
        assert numbers[0] == numbers[-1] == issue
        assert tuple(numbers[1:]) in ways
        assert len(numbers) == 1 + min(map(len, ways))
    depths = distances(ids[issue], around)
    for other in range(NODES):
        ahead, behind = all_ways(edges, issue, other), all_ways(edges, other, issue)
        expected = min(map(len, ahead)) - 1 if ahead else 1 - min(map(len, behind)) if behind else None
        assert depths.get(ids[other]) == expected


def test_the_graph_is_not_followed_beyond_a_hidden_issue() -> None:
    """Issues behind a hidden one are reached only by another path, and otherwise not at all."""
    edges = [(1, 2), (2, 3), (1, 4), (4, 5), (5, 3), (6, 1), (7, 6)]
    assert distances(1, edges) == {1: 0, 2: 1, 4: 1, 3: 2, 5: 2, 6: -1, 7: -2}
    assert distances(1, edges, {2, 6}) == {1: 0, 2: 1, 4: 1, 5: 2, 3: 3, 6: -1}
