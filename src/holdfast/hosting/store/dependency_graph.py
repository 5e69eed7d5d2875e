"""Graph queries on issue dependencies: cycle detection and the neighbourhood of an issue.

Each is one recursive query (`WITH RECURSIVE`), regardless of the depth.
"""

from collections import deque
from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import CTE, Connection, Select, select

from holdfast.hosting.store.tables import issue_dependencies, issues

__all__ = ["Edge", "distances", "edges_around", "find_cycle"]

Edge = tuple[int, int]
"""The ids of an issue and of one of its blockers."""
waiting, blocking = issue_dependencies.c.issue_id, issue_dependencies.c.blocker_id
EDGE: Final = select(waiting, blocking)


def reachable(starts: Select[int], *, blockers: bool) -> CTE:
    """Return the recursive query for all transitive blockers of some issues, or all issues they block."""
    behind, ahead = (waiting, blocking) if blockers else (blocking, waiting)
    reached = starts.cte("reachable", recursive=True)
    return reached.union(select(ahead).join(reached, behind == reached.c.id))


def find_cycle(connection: Connection, issue_id: int, blocker_ids: Collection[int]) -> tuple[int, ...]:
    """Return the shortest cycle that these blockers would close; empty if there is none."""
    if issue_id in blocker_ids:
        return (issue_id, issue_id)
    reached = reachable(select(issues.c.id).where(issues.c.id.in_(blocker_ids)), blockers=True)
    closes = select(reached.c.id).where(reached.c.id == issue_id).limit(1)
    if connection.execute(closes).one_or_none() is None:
        return ()
    edges: dict[int, list[int]] = {issue_id: sorted(blocker_ids)}
    for behind, ahead in connection.execute(EDGE.join(reached, waiting == reached.c.id)):
        if behind != issue_id:
            edges.setdefault(behind, []).append(ahead)
    return (issue_id, *shortest_cycle(edges, issue_id))


def shortest_cycle(edges: dict[int, list[int]], start: int) -> list[int]:
    """Return the shortest path from an issue back to itself, without the start; breadth-first."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while start not in came_from:
        current = queue.popleft()
        for ahead in edges.get(current, ()):
            if ahead not in came_from:
                came_from[ahead] = current
                queue.append(ahead)
    path = [start]
    while (before := came_from[path[-1]]) != start:
        path.append(before)
    return path[::-1]


def edges_around(connection: Connection, issue_id: int, *, most: int) -> list[Edge]:
    """Return the dependencies among an issue, its transitive blockers and all issues it transitively blocks.

    In each direction only the `most` nearest issues are included, plus one, so that callers can detect that there
    are more.
    """
    start = select(issues.c.id).where(issues.c.id == issue_id)
    edges: dict[Edge, None] = {}
    for blockers in (True, False):
        near = select(reachable(start, blockers=blockers).c.id).limit(most + 1).subquery()
        rows = connection.execute(EDGE.join(near, waiting == near.c.id))
        edges.update(dict.fromkeys((issue, blocker) for issue, blocker in rows))
    return list(edges)


def distances(start: int, edges: Sequence[Edge], closed: Collection[int] = ()) -> dict[int, int]:
    """Return the distance of each issue: positive towards blockers, negative towards blocked issues.

    Issues in `closed` are not expanded.
    """
    distance_by_id = {start: 0}
    for sign in (1, -1):
        neighbours: dict[int, list[int]] = {}
        for issue, blocker in edges:
            behind, ahead = (issue, blocker) if sign > 0 else (blocker, issue)
            neighbours.setdefault(behind, []).append(ahead)
        queue = deque([start])
        while queue:
            current = queue.popleft()
            for ahead in () if current in closed else neighbours.get(current, ()):
                if ahead not in distance_by_id:
                    distance_by_id[ahead] = distance_by_id[current] + sign
                    queue.append(ahead)
    return distance_by_id
