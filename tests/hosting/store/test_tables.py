"""Names of constraints and indexes."""

from holdfast.hosting.store.tables import metadata


def test_every_constraint_and_index_has_a_name() -> None:
    """Constraints and indexes have names, without which they could not be dropped portably."""
    for table in metadata.sorted_tables:
        assert table.primary_key.name == f"pk_{table.name}"
        assert all(constraint.name for constraint in table.constraints), table.name
        for index in table.indexes:
            assert str(index.name).startswith(f"ix_{table.name}_")
