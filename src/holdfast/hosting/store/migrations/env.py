"""Alembic calls this; the connection comes from `holdfast.hosting.store.migrate`, inside its transaction."""

from alembic import context

from holdfast.hosting.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
