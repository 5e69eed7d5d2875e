"""The tests mirror the package: whoever looks for a module's tests finds them by its name."""

from pathlib import Path

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "holdfast"
DEMO = ROOT / "src" / "holdfast_demo"
# What is exercised by running it: the entry point, the migrations, the actors of a made-up history, who are judged
# by the history they make, the demo, which is judged by what the first start shows, the parts of the core that
# cannot be called from Python once they are compiled, and what the host keeps or shows only so that the API can
# answer, which is tested by asking it.
ELSEWHERE = {
    Path("__main__.py"): "cli/test_main.py",
    Path("hosting/store/migrations"): "hosting/store/test_migrate.py",
    **{
        Path(f"http_client/{name}.py"): "hosting/webhooks/test_client.py"
        for name in ("client", "connector", "errors", "requests")
    },
    Path("hosting/schemas"): "hosting/test_openapi.py",
    Path("hosting/api/commit_options.py"): "hosting/api/test_contents_write.py",
    Path("hosting/git_server/session.py"): "hosting/git_server/test_http.py",
    Path("hosting/services/revisions.py"): "hosting/api/test_commits.py",
    Path("hosting/file_responses/blobs.py"): "hosting/api/test_raw.py",
    Path("hosting/api/protections.py"): "hosting/api/test_branches.py",
    Path("hosting/git/syscalls.py"): "hosting/git/test_atomic_write.py",
    Path("hosting/services/file_contents.py"): "hosting/services/test_file_commits.py",
    Path("hosting/services/pushes.py"): "hosting/git_server/test_http.py",
    Path("hosting/lfs/pushed_pointers.py"): "hosting/git_server/test_http.py",
    Path("hosting/store/collaborators.py"): "hosting/api/test_collaborators.py",
    Path("hosting/store/commit_keys.py"): "hosting/services/test_file_commits.py",
    Path("hosting/store/events.py"): "hosting/services/test_ref_changes.py",
    Path("hosting/webhooks/webhook_request.py"): "hosting/webhooks/test_signatures.py",
    Path("hosting/store/lfs.py"): "hosting/git_server/test_lfs.py",
    Path("hosting/store/organizations.py"): "hosting/api/test_organizations.py",
    Path("hosting/store/protections.py"): "hosting/api/test_branches.py",
    Path("hosting/store/repositories.py"): "hosting/test_access.py",
    Path("hosting/store/branch_renames.py"): "hosting/api/test_raw.py",
    Path("hosting/store/pending_ref_updates.py"): "hosting/services/test_ref_changes.py",
    **{
        Path(f"backup/rules/{name}.py"): "backup/rules/test_registry.py"
        for name in (
            "account",
            "attachment",
            "call",
            "call_link",
            "chat",
            "chat_folder",
            "chat_style",
            "contact",
            "contact_card",
            "distribution_list",
            "finding",
            "gift_badge",
            "group",
            "group_update",
            "media",
            "message",
            "notification_profile",
            "payment",
            "poll",
            "quote",
            "reaction",
            "recipient",
            "rule",
            "sticker",
            "sticker_pack",
            "story_reply",
            "stream",
            "text",
            "update",
            "view_once",
        )
    },
    Path("backup/rules/backup_state.py"): "backup/rules/test_registry.py",
    Path("backup/parts.py"): "backup/rules/test_container.py",
    Path("backup/container/faults.py"): "backup/rules/test_container.py",
    **{
        Path(f"backup/rules/{name}.py"): "backup/rules/test_checker.py"
        for name in ("notes", "recipient_kinds", "record_checks", "rule_context", "value_checks")
    },
    Path("backup/rules/checks.py"): "backup/rules/test_registry.py",
    Path("cli/inputs.py"): "cli/test_backup.py",
    Path("backup/archives/accounts.py"): "backup/archives/test_imports.py",
    Path("backup/archives/changes.py"): "backup/archives/test_imports.py",
    Path("backup/archives/chart.py"): "backup/archives/test_statistics.py",
    Path("backup/archives/extras.py"): "backup/archives/test_imports.py",
    **{
        Path(f"backup/archives/{name}.py"): "backup/archives/test_imports.py"
        for name in ("identity_changes", "message_merge", "message_store", "profiles", "statements")
    },
    Path("backup/archives/messages.py"): "backup/archives/test_imports.py",
    Path("backup/archives/model.py"): "backup/archives/test_reader.py",
    Path("backup/archives/archive_file.py"): "backup/archives/test_schema.py",
    Path("backup/archives/people.py"): "backup/archives/test_reader.py",
    Path("backup/archives/recipients.py"): "backup/archives/test_imports.py",
    Path("backup/archives/rows.py"): "backup/archives/test_imports.py",
    **{
        Path(f"backup/archives/schema_{name}.py"): "backup/archives/test_schema.py"
        for name in ("messages", "people", "rest", "views")
    },
    Path("backup/archives/sentence_templates.py"): "backup/archives/test_sentences.py",
    Path("backup/archives/snapshots.py"): "backup/archives/test_imports.py",
    Path("backup/archives/tolerance.py"): "backup/archives/test_sentences.py",
    Path("backup/archives/updates.py"): "backup/archives/test_sentences.py",
    Path("backup/exports/account_shapes.py"): "backup/exports/test_jsonl.py",
    Path("backup/exports/message_shapes.py"): "backup/exports/test_jsonl.py",
    Path("backup/exports/shapes.py"): "backup/exports/test_jsonl.py",
    Path("backup/exports/arrow.py"): "backup/exports/test_dataset.py",
    Path("backup/exports/job.py"): "backup/exports/test_dispatcher.py",
    Path("cli/convert.py"): "cli/test_backup.py",
    Path("cli/extract.py"): "cli/test_backup.py",
    Path("cli/info.py"): "cli/test_backup.py",
    Path("cli/sample.py"): "cli/test_backup.py",
    Path("cli/exit_codes.py"): "cli/test_error_codes.py",
    Path("cli/archive/shared.py"): "cli/archive/test_show.py",
    Path("web/chats/host_pages.py"): "web/chats/test_data_folder_pages.py",
    Path("backup/exports/html/files.py"): "backup/exports/html/test_bubbles.py",
    Path("backup/exports/html/pages.py"): "backup/exports/html/test_page_folder.py",
    Path("backup/exports/html/chat_export.py"): "backup/exports/html/test_page_folder.py",
    Path("web/code/switcher.py"): "web/code/test_repository_pages.py",
    Path("web/code/directory.py"): "web/code/test_repository_pages.py",
    Path("web/code/commit_rows.py"): "web/code/test_history_page.py",
    Path("web/code/diffs.py"): "web/code/test_commit_page.py",
    Path("web/code/change_forms.py"): "web/code/test_edit_page.py",
    Path("web/repository_list.py"): "web/test_explore.py",
    Path("holdfast_demo/sample"): "holdfast_demo/sample/test_coverage.py",
    Path("holdfast_demo"): "holdfast_demo/test_fill.py",
    Path("backup/wire/faults.py"): "backup/wire/test_frames.py",
    Path("backup/wire/names.py"): "backup/wire/test_tables.py",
    Path("backup/wire/render.py"): "backup/wire/test_tojson.py",
}


def modules() -> list[Path]:
    """List the modules people wrote, relative to the package; those of the demo with the name of theirs."""
    every = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    every += [path.relative_to(DEMO.parent) for path in DEMO.rglob("*.py")]
    return sorted(path for path in every if path.name != "__init__.py" and not path.name.endswith("_pb2.py"))


def test_every_module_has_its_tests() -> None:
    """src/holdfast/a/b.py is tested by tests/a/test_b.py."""
    for module in modules():
        elsewhere = [Path(test) for place, test in ELSEWHERE.items() if module.is_relative_to(place)]
        places = [module.with_name(f"test_{module.name}"), *elsewhere]
        assert any((ROOT / "tests" / test).is_file() for test in places), f"{module} has no {places[0]}"


def test_every_folder_of_tests_mirrors_a_room() -> None:
    """A test folder without a room of that name is one of the documented others."""
    others = {"house", "compat", "browser"}
    for folder in (ROOT / "tests").rglob("*/"):
        relative = folder.relative_to(ROOT / "tests")
        if folder.name != "__pycache__" and relative.parts and relative.parts[0] not in others:
            source = DEMO.parent if relative.parts[0] == DEMO.name else SOURCE
            assert (source / relative).is_dir(), f"tests/{relative} mirrors nothing"
