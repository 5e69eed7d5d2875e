"""Indexes of the substrings of names, descriptions and topics, and one for lists of accounts that are searched."""

from alembic import op

revision = "0029"
down_revision = "0028"

# The tables of the index: the table with the texts, the columns, and the text of a row, in lower case.
SEARCHED = {
    "repository_name_search": ("repositories", ("folded_name",), "lower({0}.folded_name)"),
    "repository_text_search": (
        "repositories",
        ("description", "topics"),
        "lower({0}.description) || {1} || lower({0}.topics)",
    ),
    "account_search": (
        "users",
        ("folded_name", "full_name"),
        "lower({0}.folded_name) || {1} || lower({0}.full_name)",
    ),
}
# The index has no copy of the text. Two line feeds follow it, so that the one or two characters at its end begin a
# trigram too; the virtual table with the terms finds those that begin with a text of one or two characters.
SQLITE = (
    ("CREATE VIRTUAL TABLE {name} USING fts5(text, content='', detail=none, tokenize='trigram case_sensitive 1')"),
    "CREATE VIRTUAL TABLE {name}_terms USING fts5vocab({name}, instance)",
    "INSERT INTO {name} (rowid, text) SELECT id, {stored} FROM {table}",
    (
        "CREATE TRIGGER {name}_insert AFTER INSERT ON {table} BEGIN"
        " INSERT INTO {name} (rowid, text) VALUES (new.id, {new}); END"
    ),
    (
        "CREATE TRIGGER {name}_delete AFTER DELETE ON {table} BEGIN"
        " INSERT INTO {name} ({name}, rowid, text) VALUES ('delete', old.id, {old}); END"
    ),
    (
        "CREATE TRIGGER {name}_update AFTER UPDATE OF {columns} ON {table} WHEN {old} <> {new} BEGIN"
        " INSERT INTO {name} ({name}, rowid, text) VALUES ('delete', old.id, {old});"
        " INSERT INTO {name} (rowid, text) VALUES (new.id, {new}); END"
    ),
)
# The same with vectors of full-text search, whose words are the trigrams: no extension is needed for that.
POSTGRES_FUNCTIONS = (
    (
        "CREATE OR REPLACE FUNCTION trigrams(value text) RETURNS tsvector"
        " LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$"
        " SELECT coalesce(array_to_tsvector(array_agg(substr(value || chr(10) || chr(10), first, 3))), '')"
        " FROM generate_series(1, length(value)) AS first $$"
    ),
    # The words of a query are between single quotes, which are doubled in them, as backslashes are.
    (
        "CREATE OR REPLACE FUNCTION trigram_query(value text) RETURNS tsquery"
        " LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$"
        " SELECT cast(string_agg(chr(39) || replace(replace(word, chr(92), repeat(chr(92), 2)),"
        " chr(39), repeat(chr(39), 2)) || chr(39) || CASE WHEN length(value) < 3 THEN ':*' ELSE '' END, ' & ')"
        " AS tsquery) FROM (SELECT substr(value, first, 3) AS word"
        " FROM generate_series(1, greatest(length(value) - 2, 1)) AS first) AS words $$"
    ),
)
# Beside the table with the texts: each update of one of its rows, such as by a push, would write to the index.
POSTGRES = (
    (
        "CREATE TABLE {name} (id bigint CONSTRAINT pk_{name} PRIMARY KEY"
        " CONSTRAINT fk_{name}_id_{table} REFERENCES {table} (id) ON DELETE CASCADE, trigrams tsvector NOT NULL)"
    ),
    "INSERT INTO {name} (id, trigrams) SELECT id, trigrams({stored}) FROM {table}",
    "CREATE INDEX ix_{name}_trigrams ON {name} USING gin (trigrams)",
    "ANALYZE {name}",
    (
        "CREATE OR REPLACE FUNCTION {name}_store() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO {name} (id, trigrams) VALUES (new.id, trigrams({new}))"
        " ON CONFLICT (id) DO UPDATE SET trigrams = excluded.trigrams"
        " WHERE {name}.trigrams <> excluded.trigrams;"
        " RETURN NULL; END $$"
    ),
    (
        "CREATE TRIGGER {name}_store AFTER INSERT OR UPDATE OF {columns} ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION {name}_store()"
    ),
)


def upgrade() -> None:
    """Create and fill the indexes."""
    op.drop_index("ix_users_is_organization_folded_name", "users")
    columns = ["is_organization", "folded_name", "id", "visibility", "full_name"]
    op.create_index(op.f(f"ix_users_{'_'.join(columns)}"), "users", columns)
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    line_feed, end = ("char(10)", " || char(10, 10)") if is_sqlite else ("chr(10)", "")
    if not is_sqlite:
        for statement in POSTGRES_FUNCTIONS:
            op.execute(statement)
    for name, (table, searched, text) in SEARCHED.items():
        words = {
            "name": name,
            "table": table,
            "columns": ", ".join(searched),
            "stored": text.format(table, line_feed) + end,
            "new": text.format("new", line_feed) + end,
            "old": text.format("old", line_feed) + end,
        }
        for statement in SQLITE if is_sqlite else POSTGRES:
            op.execute(statement.format(**words))
