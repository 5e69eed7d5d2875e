"""Validation of the corpus: valid files have no findings, and invalid ones do."""

import random
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.rules import Edition, Severity, ValidationRun
from tests.backup.rules.example_backup import findings
from tests.backup.rules.fault_injection import error_rows, inject
from tests.backup.wire.core import installed, interpreted
from tests.backup.wire.whole_streams import damage_stream, validate_with
from tests.compat.corpus import chat_backups
from tests.compat.reference import read

BROKEN = {
    "chat-pinned-order-conflict": "chat.pinned-order.unique",
    "group-update-invalid-aci": "group-update.id.length",
    "missing-recipient": "chat.recipient.known",
}


@pytest.mark.parametrize("path", chat_backups("valid", "*.binproto"), ids=lambda path: path.stem)
def test_every_valid_file_has_no_findings(path: Path) -> None:
    """The current rules find no errors in a valid file, only warnings about improbable dates."""
    with backup.open(path) as source:
        validation = ValidationRun(source, threads=1)
        results = list(validation)
    assert validation.edition is Edition.CURRENT
    assert {finding.severity for finding in results} <= {Severity.WARNING}
    assert all(finding.rule.id.startswith("date.") for finding in results)


@pytest.mark.parametrize("path", chat_backups("invalid", "*.jsonproto"), ids=lambda path: path.stem)
def test_every_invalid_file_is_detected(path: Path) -> None:
    """Each file breaks the rule it was made for, and the rule that a backup has an account."""
    with backup.open(path) as source:
        errors = [finding.rule.id for finding in ValidationRun(source) if finding.severity is Severity.ERROR]
    assert errors == [BROKEN[path.stem], "account.present"]


def test_compiled_and_interpreted_rules_agree_on_the_corpus() -> None:
    """Both give the same findings in the same order for all files, and for damaged copies of some."""
    compiled, plain = installed(), interpreted()
    for number, path in enumerate(chat_backups("valid", "*.binproto")):
        data = path.read_bytes()
        for item in (data, damage_stream(data, number, 3)) if number % 5 == 0 else (data,):
            assert validate_with(compiled, item) == validate_with(plain, item), path.stem


def test_injected_faults_are_all_found() -> None:
    """Up to ten faults in each file are found in their frames, without other errors."""
    count = 0
    for number, path in enumerate(chat_backups("valid", "*.binproto")[::6]):
        records = list(read(path))
        injected = inject(random.Random(number), records, min(10, len(records) // 2), edition="current", tries=300)
        for other_item in injected:
            records[other_item.frame] = other_item.raw
        assert error_rows(findings(records, edition="current")) == [
            line for item in injected for line in item.errors
        ]
        count += len(injected)
    assert count > 60
