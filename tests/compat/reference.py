"""Compares the validator with the reference validator, on whole backups and on mutations of them.

The reference is a third-party program and not part of this project: install it into a separate folder, and run
`python -m tests.compat.reference FOLDER EDITION COUNT [FILES...]`. Without files, generated histories
are mutated.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.backup.rules import Finding, Severity, Validator
from holdfast.backup.wire import FrameStream
from holdfast.backup.wire.varint import encode_varint
from holdfast_demo.sample import sample_records
from tests.compat.structured import Records, StreamMutator

__all__ = ["Verdict", "ask", "differences", "judge", "mutations"]

SCRIPT = Path(__file__).with_name("reference_verdicts.mjs")
SHOWN = 40
# Rules of the specification that the reference does not check.
OURS_ALONE = {"account.first"}
# Rules that the reference checks after the last frame; here they are reported at their frame.
AT_THE_END = {
    *("self.once", "release-notes.once", "chat-folder.all.once"),
    *(f"recipient.{what}.unique" for what in ("username", "e164", "aci", "pni", "group", "list", "call-link")),
}


@dataclass(frozen=True)
class Verdict:
    """The result of validating a stream: the frame of its first error (0 header, -1 the end), and the error."""

    ok: bool
    frame: int = 0
    error: str = ""


def ask(folder: str, streams: Sequence[Records], purpose: str = "remote") -> list[Verdict]:
    """Run the reference validator on streams."""
    with tempfile.NamedTemporaryFile(suffix=".packed") as packed:
        for records in streams:
            data = b"".join(encode_varint(len(raw)) + raw for raw in records)
            packed.write(len(data).to_bytes(4, "little") + data)
        packed.flush()
        done = subprocess.run(
            ["node", str(SCRIPT), purpose, packed.name],
            env={**os.environ, "REFERENCE": folder},
            capture_output=True,
            check=True,
            text=True,
        )
    return [Verdict(**json.loads(line)) for line in done.stdout.splitlines()]


def findings(records: Records, edition: str, purpose: str = "remote") -> list[Finding]:
    """Validate a stream."""
    validator = Validator(records[0], edition=edition, purpose=purpose)  # type: ignore[arg-type]  # names from a table, which are valid
    results = [finding for raw in records[1:] for finding in validator.check(raw)]
    return results + validator.finish()


def judge(found_findings: Sequence[Finding]) -> list[tuple[int, str]]:
    """List the errors as frame and rule in the order of the reference: errors of the whole stream are last."""
    errors = [
        (-1 if finding.frame is None or finding.rule.id in AT_THE_END else finding.frame, finding.rule.id)
        for finding in found_findings
        if finding.severity is Severity.ERROR and finding.rule.id not in OURS_ALONE
    ]
    return sorted(errors, key=lambda error: error[0] == -1)


def read(path: Path) -> Records:
    """Read the records of a file."""
    with path.open("rb") as source:
        stream = FrameStream(source)
        return (stream.header, *(frame.raw for frame in stream))


def mutations(rng: random.Random, originals: Sequence[Records], count: int) -> list[Records]:
    """Change streams, most of them in one place and some in more."""
    smith = StreamMutator(rng, originals)
    created = []
    for _ in range(count):
        records = smith.change(rng.choice(originals))
        while rng.random() < 0.15:
            records = smith.change(records)
        created.append(records)
    return created


def differences(
    folder: str, streams: Sequence[Records], edition: Literal["spec", "current"], purpose: str = "remote"
) -> Iterator[tuple[Records, Verdict, list[tuple[int, str]]]]:
    """Yield the streams on which the verdicts differ, or the first errors are in different frames."""
    for records, verdict in zip(streams, ask(folder, streams, purpose), strict=True):
        errors = judge(findings(records, edition, purpose))
        if verdict.ok != (not errors) or (errors and errors[0][0] != verdict.frame):
            yield records, verdict, errors


def main() -> int:
    """Print the differences, grouped."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat.reference")
    parser.add_argument("folder", help="where the reference validator is installed")
    parser.add_argument("edition", choices=["spec", "current"])
    parser.add_argument("count", type=int, help="how many mutations are compared")
    parser.add_argument("files", nargs="*", type=Path, help="backups (default: generated histories)")
    parser.add_argument("--purpose", choices=["remote", "transfer", "takeout"], default="remote")
    options = parser.parse_args()
    folder, purpose = options.folder, options.purpose
    chosen: Literal["spec", "current"] = options.edition
    originals = [read(file) for file in options.files] or [
        tuple(sample_records(60, seed, edition=chosen)) for seed in range(1, 20)
    ]
    rng = random.Random(1)
    groups: Counter[str] = Counter()
    for stage, streams in (("as they are", originals), ("mutated", mutations(rng, originals, options.count))):
        groups.clear()
        for _records, verdict, errors in differences(folder, streams, chosen, purpose):
            theirs = "ok" if verdict.ok else f"{verdict.frame}: {verdict.error}"
            groups[f"reference: {theirs}\n     ours: {errors[:3] or 'ok'}"] += 1
        sys.stdout.write(f"{stage}: {len(streams)} streams, {sum(groups.values())} differences\n")
        for text, number in groups.most_common(SHOWN):
            sys.stdout.write(f"{number:4} {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
