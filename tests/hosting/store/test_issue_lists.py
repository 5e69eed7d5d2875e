"""What SQL says of who may read issues is what `access.py` says."""

from itertools import product

from holdfast.hosting import access
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.accounts import all_users
from holdfast.hosting.store.database import Database
from tests.hosting.repository_helpers import decided, every_role


def test_a_search_finds_exactly_what_can_be_read(database: Database) -> None:
    """For everybody, with and without a token that is for public things only, and for nobody."""
    places = every_role(database)
    for person, public_only in product([*all_users(database), None], (False, True)):
        visible = issue_lists.visible_to(person, public_only=public_only)
        found, _ = issue_lists.list_issues(database, [visible], issue_lists.Filter(), skip=0, limit=1000)
        expected = set()
        for place in places:
            may = decided(database, person, place, public_only=public_only)
            expected |= {(place.id, is_pull) for is_pull in access.issue_kinds(may)}
        assert issue_lists.count_issues(database, [visible], issue_lists.Filter()) == len(found)
        name = "nobody" if person is None else person.name
        assert {(one.repository_id, one.is_pull) for one in found} == expected, (name, public_only)
