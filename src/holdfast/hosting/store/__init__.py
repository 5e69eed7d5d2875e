"""SQL persistence: table definitions, migrations, and one module of queries per table family."""
