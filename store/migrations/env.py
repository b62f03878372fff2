"""How alembic runs here: on the connection that it is given, in its transaction."""

from alembic import context

from store.schema import metadata

_given = context.config.attributes["connection"]
context.configure(
    connection=_given,
    target_metadata=metadata,
    render_as_batch=_given.dialect.name == "sqlite",
    transaction_per_migration=False,
)
context.run_migrations()
