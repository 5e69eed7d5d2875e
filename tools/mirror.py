"""Which tests belong to a module: the rule that the tests mirror the package, and its exceptions.

    python -m tools.mirror src/holdfast/hosting/services/labels.py    the tests of a module
    python -m tools.mirror                                           how many modules follow which rule

1. `src/holdfast/a/b.py` is tested by `tests/a/test_b.py`.
2. A resource has one name in every layer of the host, and may be tested through the API: `hosting/store/pins.py`
   and `hosting/services/pins.py` by `tests/hosting/api/test_pins.py`.
3. A package that is tested as a whole is in `WHOLE`, with the test that goes through all of its modules.
4. Anything else is an exception, in `ELSEWHERE`.
5. What a module does may show only in what its neighbours do. `NEIGHBOURS` names those whose tests hold it as
   well; `tools.mutation` runs them too.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Final

__all__ = ["DEMO", "ELSEWHERE", "NEIGHBOURS", "SOURCE", "TESTS", "WHOLE", "find_tests", "modules", "own_test"]

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "holdfast"
DEMO: Final = ROOT / "src" / "holdfast_demo"
TESTS: Final = ROOT / "tests"

# Layers of the host in which a resource has the same name as in the API.
RESOURCE_LAYERS: Final = frozenset({"services", "store", "schemas", "file_responses"})

# Packages whose modules are tables, declarations or content, and the tests that go through every one of them.
WHOLE: Final = {
    Path("hosting/store/migrations"): "hosting/store/test_migrate.py",
    Path("hosting/store/tables"): "hosting/store/test_tables.py",
    Path("hosting/schemas"): "hosting/test_openapi.py",
    # A family of records declares its rules; each has an invalid case.
    Path("backup/rules"): "backup/rules/test_registry.py",
    # Sample content: judged by the history and the first start that it makes.
    Path("holdfast_demo/sample"): "holdfast_demo/sample/test_coverage.py",
    Path("holdfast_demo"): "holdfast_demo/test_fill.py",
}

# Tested by running something else: the entry point, what cannot be called from Python once it is compiled, and
# what exists only for its neighbour.
ELSEWHERE: Final = {
    Path("__main__.py"): "cli/test_main.py",
    Path("backup/archives/extras.py"): "backup/archives/test_imports.py",
    Path("backup/archives/model.py"): "backup/archives/test_reader.py",
    Path("backup/archives/rows.py"): "backup/archives/test_imports.py",
    Path("backup/archives/schema_messages.py"): "backup/archives/test_schema.py",
    Path("backup/archives/schema_people.py"): "backup/archives/test_schema.py",
    Path("backup/archives/schema_rest.py"): "backup/archives/test_schema.py",
    Path("backup/archives/sentence_templates.py"): "backup/archives/test_sentences.py",
    Path("backup/archives/statements.py"): "backup/archives/test_imports.py",
    Path("backup/exports/account_schemas.py"): "backup/exports/test_jsonl.py",
    Path("backup/exports/html/chat_export.py"): "backup/exports/html/test_page_folder.py",
    Path("backup/exports/html/files.py"): "backup/exports/html/test_bubbles.py",
    Path("backup/exports/html/pages.py"): "backup/exports/html/test_page_folder.py",
    Path("backup/exports/message_schemas.py"): "backup/exports/test_jsonl.py",
    Path("backup/parts.py"): "backup/rules/test_container.py",
    Path("backup/wire/render.py"): "backup/wire/test_tojson.py",
    Path("hosting/api/commit_options.py"): "hosting/api/test_contents_write.py",
    Path("hosting/webhooks/webhook_request.py"): "hosting/webhooks/test_signatures.py",
    Path("web/chats/host_pages.py"): "web/chats/test_data_folder_pages.py",
    Path("web/pulls/pull_head.py"): "web/pulls/test_conversation.py",
    Path("web/releases.py"): "hosting/api/test_release_assets.py",
}

# Modules of a package, and whose tests hold them as well: neighbours in the package, or with a slash elsewhere.
NEIGHBOURS: Final[dict[Path, dict[str, tuple[str, ...]]]] = {
    Path("backup/archives"): {
        "archive_file": ("integrity", "schema_upgrades", "encryption", "removal"),
        "extras": ("reader",),
        "identity_merge": ("identity", "messages", "duplicates"),
        "import_removal": ("removal",),
        "integrity": ("accounts", "message_loader", "removal", "schema_upgrades"),
        "media_key": ("encryption",),
        "media_store": ("removal",),
        "message_loader": ("reader", "search"),
        "message_merge": ("messages", "identity", "identity_merge", "schema_upgrades"),
        "message_store": ("messages", "message_merge", "identity", "schema_upgrades"),
        "messages": ("message_merge", "identity_merge", "imports"),
        "overview": ("web/chats/encrypted_media",),
        "people": ("message_loader", "message_store", "overview", "reader"),
        "person_removal": ("removal",),
        "reader": ("overview", "message_loader", "people"),
        "recipients": ("identity", "identity_merge", "identity_resolution", "import_removal", "messages"),
        "records": ("removal", "import_removal", "person_removal"),
        "rows": ("reader", "message_loader", "person_removal"),
        "schema": ("schema_upgrades", "archive_file"),
        "snapshots": ("person_removal",),
        "tolerance": ("profiles", "updates"),
    },
    Path("backup/rules"): {
        "backup_state": ("validator",),
        "finding": ("raw_findings",),
        "repairs": ("rule",),
        "validator": ("container", "validation"),
    },
    Path("hosting/services"): {
        "branch_protection": ("code_owners", "merge_requirements", "hosting/api/protections"),
        "chat_backups": ("chat_uploads",),
        "commit_statuses": ("hosting/api/statuses",),
        "file_changes": ("file_commits", "hosting/api/contents_write"),
        "file_commits": ("code_owners", "patch_commits", "hosting/api/contents_write"),
        "file_contents": ("file_commits", "hosting/api/raw_upload"),
        "lfs_objects": ("maintainer_edits", "hosting/git_server/lfs"),
        "migration_sources": ("migration_imports",),
        "notifications": ("hosting/api/pull_changes",),
        "organizations": ("forks",),
        "pull_heads": ("maintainer_edits", "code_owners", "hosting/api/pulls"),
        "pulls": ("pull_heads", "hosting/api/pull_changes"),
        "pushes": ("ref_updates", "hosting/git_server/http"),
        "ref_updates": ("branches", "ref_log", "commit_references", "pull_heads", "releases"),
        "remotes": ("migration_imports",),
        "repositories": ("hosting/api/forks",),
        "suggestions": ("web/pulls/review_forms",),
        "tag_protection": ("hosting/api/tag_protections",),
        "template_variables": ("repository_templates", "hosting/api/repository_templates"),
        "transfers": ("notifications",),
        "two_factor": ("passkeys",),
        "users": ("chat_backups",),
        "webhooks": ("hosting/api/admin_hooks", "hosting/api/webhook_options", "hosting/api/webhook_tests"),
    },
    Path("hosting/storage"): {
        "local_copies": ("compaction",),
    },
    Path("hosting/store"): {
        "issue_lists": ("labelled_issues", "hosting/api/issue_search"),
        "notification_writes": ("notifications", "hosting/api/notifications"),
    },
    Path("hosting/webhooks"): {
        "deliverer": ("hosting/traces",),
    },
}


def modules() -> list[Path]:
    """List the modules people wrote, relative to the package; those of the demo with the name of theirs."""
    every = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    every += [path.relative_to(DEMO.parent) for path in DEMO.rglob("*.py")]
    return sorted(path for path in every if path.name != "__init__.py" and not path.name.endswith("_pb2.py"))


def own_test(module: Path) -> Path | None:
    """Return the test that mirrors a module, or that of the resource in the API; None if it has neither."""
    places = [module.with_name(f"test_{module.name}")]
    if module.parts[0] == "hosting" and module.parts[1] in RESOURCE_LAYERS:
        places.append(Path("hosting", "api", f"test_{module.name}"))
    return next((TESTS / place for place in places if (TESTS / place).is_file()), None)


def find_tests(module: Path) -> list[Path]:
    """List every file of tests that belongs to a module, the nearest first."""
    places = [module.with_name(f"test_{module.name}")]
    if module.parts[0] == "hosting" and module.parts[1] in RESOURCE_LAYERS:
        places.append(Path("hosting", "api", f"test_{module.name}"))
    if module in ELSEWHERE:
        places.append(Path(ELSEWHERE[module]))
    places += [Path(test) for package, test in WHOLE.items() if module.is_relative_to(package)]
    for name in NEIGHBOURS.get(module.parent, {}).get(module.stem, ()):
        folder, _, last = name.rpartition("/")
        places.append((Path(folder) if folder else module.parent) / f"test_{last}.py")
    return [TESTS / place for place in places if (TESTS / place).is_file()]


def rule_of(module: Path) -> str:
    """Name the rule by which a module has its tests."""
    if (own := own_test(module)) is not None:
        return "mirrored" if own.parent == (TESTS / module).parent else "through the API"
    if module in ELSEWHERE:
        return "exception"
    return "package" if find_tests(module) else "none"


def main() -> None:
    """Print the tests of a module, or count the modules by rule."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mirror", description="Print the tests of modules, or count the modules by rule."
    )
    parser.add_argument("modules", nargs="*", type=Path, metavar="MODULE", help="a file below src/")
    chosen: list[Path] = parser.parse_args().modules
    for path in map(Path.resolve, chosen):
        if not path.is_file() or not any(path.is_relative_to(base) for base in (SOURCE, DEMO)):
            parser.error(f"{path} is not a module below src/")
        base = DEMO.parent if path.is_relative_to(DEMO) else SOURCE
        print(*find_tests(path.relative_to(base)), sep="\n")
    if not chosen:
        for rule, count in Counter(map(rule_of, modules())).most_common():
            print(f"{count:5} {rule}")


if __name__ == "__main__":
    main()
