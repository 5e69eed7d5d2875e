"""The graph issues make by waiting for others: whether a relation would close a circle, and what is around one.

Each question is one recursive query, however long the chains are.
"""

from collections import deque
from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import CTE, Connection, Select, select

from holdfast.hosting.store.tables import issue_dependencies, issues

__all__ = ["Edge", "edges_around", "find_cycle", "steps"]

Edge = tuple[int, int]
"""An issue and one it waits for, by their ids."""
waiting, blocking = issue_dependencies.c.issue_id, issue_dependencies.c.blocker_id
EDGE: Final = select(waiting, blocking)


def reached(starts: Select[int], *, blockers: bool) -> CTE:
    """Return the ids one comes to from some issues by following their blockers, or those they block."""
    behind, ahead = (waiting, blocking) if blockers else (blocking, waiting)
    found = starts.cte("reached", recursive=True)
    return found.union(select(ahead).join(found, behind == found.c.id))


def find_cycle(connection: Connection, issue_id: int, blocker_ids: Collection[int]) -> tuple[int, ...]:
    """Return the shortest circle that would close if an issue waited for these; empty when none would."""
    if issue_id in blocker_ids:
        return (issue_id, issue_id)
    found = reached(select(issues.c.id).where(issues.c.id.in_(blocker_ids)), blockers=True)
    closes = select(found.c.id).where(found.c.id == issue_id).limit(1)
    if connection.execute(closes).one_or_none() is None:
        return ()
    edges: dict[int, list[int]] = {issue_id: sorted(blocker_ids)}
    for behind, ahead in connection.execute(EDGE.join(found, waiting == found.c.id)):
        if behind != issue_id:
            edges.setdefault(behind, []).append(ahead)
    return (issue_id, *way_back(edges, issue_id))


def way_back(edges: dict[int, list[int]], start: int) -> list[int]:
    """Return the shortest way that leads from an issue to itself, which there is, without its beginning."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while start not in came_from:
        here = queue.popleft()
        for ahead in edges.get(here, ()):
            if ahead not in came_from:
                came_from[ahead] = here
                queue.append(ahead)
    way = [start]
    while (before := came_from[way[-1]]) != start:
        way.append(before)
    return way[::-1]


def edges_around(connection: Connection, issue_id: int, *, most: int) -> list[Edge]:
    """Return what an issue, those it waits for and those that wait for it, and so on in each direction, wait for.

    Of each direction only the `most` nearest issues are asked, and one more, so that one can tell there are more.
    """
    start = select(issues.c.id).where(issues.c.id == issue_id)
    found: dict[Edge, None] = {}
    for blockers in (True, False):
        near = select(reached(start, blockers=blockers).c.id).limit(most + 1).subquery()
        rows = connection.execute(EDGE.join(near, waiting == near.c.id))
        found.update(dict.fromkeys((one, other) for one, other in rows))
    return list(found)


def steps(start: int, edges: Sequence[Edge], closed: Collection[int] = ()) -> dict[int, int]:
    """Return how many steps each issue is away: positive towards blockers, negative towards what is blocked.

    Nobody walks on from an issue that is `closed` to them.
    """
    found = {start: 0}
    for sign in (1, -1):
        ways: dict[int, list[int]] = {}
        for one, other in edges:
            behind, ahead = (one, other) if sign > 0 else (other, one)
            ways.setdefault(behind, []).append(ahead)
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for ahead in () if here in closed else ways.get(here, ()):
                if ahead not in found:
                    found[ahead] = found[here] + sign
                    queue.append(ahead)
    return found
