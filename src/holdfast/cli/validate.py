"""`holdfast backup validate` and `rules`."""

import sys
from collections import Counter
from typing import Annotated, Final, Literal

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.rules import RULES, Edition, Finding, Rule, Severity, ValidationRun
from holdfast.backup.rules.validator import start_validation
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, resolve_input, size_of
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, JsonOutput, byte_progress, console, print_json
from holdfast.counts import count_of
from holdfast.errors import HoldfastError

__all__ = ["RuleOutput", "ValidationFindingOutput", "list_rules", "validate_backup"]

# The number of findings printed by default; the rest is only counted.
SHOWN: Final = 50
# The number of findings printed that may only be consequences of others.
CONSEQUENCES_SHOWN: Final = 5
# Few rules read more fields than this: those read all dates, or all ids of group updates.
FIELDS_SHOWN: Final = 8
STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
RANKS: Final = {Severity.NOTE: 0, Severity.WARNING: 1, Severity.ERROR: 2}


class ValidationFindingOutput(msgspec.Struct, frozen=True):
    """One finding as `--json` prints it: the findings are an array, one to a line."""

    rule: str
    severity: str
    frame: int | None
    offset: int | None
    path: str
    detail: str
    problem: str
    advice: str
    importer: str
    repair: str | None
    drop: str | None
    consequence: bool


class RuleOutput(msgspec.Struct, frozen=True):
    """One rule as `holdfast backup rules --json` prints it."""

    id: str
    strict: str | None
    lenient: str | None = msgspec.field(name="import")
    editions: list[str]
    source: str
    fields: tuple[str, ...]
    problem: str
    advice: str
    importer: str
    repair: str | None
    drop: str | None


def finding_line(finding: Finding) -> ValidationFindingOutput:
    """Return the JSON output of a finding."""
    rule = finding.rule
    return ValidationFindingOutput(
        rule.id,
        finding.severity,
        finding.frame,
        finding.offset,
        finding.path,
        finding.detail,
        rule.wrong,
        rule.advice,
        rule.importer,
        rule.first_repair(loses=False),
        rule.first_repair(loses=True),
        finding.consequence,
    )


def rule_line(rule: Rule) -> RuleOutput:
    """Return the JSON output of a rule."""
    return RuleOutput(
        rule.id,
        rule.strict,
        rule.lenient,
        sorted(rule.editions),
        rule.source,
        rule.fields,
        rule.wrong,
        rule.advice,
        rule.importer,
        rule.first_repair(loses=False),
        rule.first_repair(loses=True),
    )


class FindingPrinter:
    """Prints findings as they are found, and counts all of them."""

    def __init__(self, *, most: int, rules: list[str], severity: Severity, as_json: bool) -> None:
        self.by_rule: Counter[Rule] = Counter()
        self._most = most
        self._rules = rules
        self._least = RANKS[severity]
        self._json = as_json
        self._out = console()
        self.chosen = 0
        self._consequences = 0
        self._hidden = 0

    def add(self, finding: Finding) -> None:
        """Count a finding, and print it if it matches the options and the limit is not reached."""
        if RANKS[finding.severity] < self._least or not (
            not self._rules or any(rule_matches(finding.rule.id, name) for name in self._rules)
        ):
            return
        self.by_rule[finding.rule] += 1
        self.chosen += 1
        self._consequences += finding.consequence
        if finding.consequence:
            one_too_many = self._consequences > min(self._most, CONSEQUENCES_SHOWN)
        else:
            one_too_many = self.chosen - self._consequences > self._most
        if self._most and one_too_many:
            self._hidden += 1
            return
        if self._json:
            # A million findings are not held in memory.
            sys.stdout.write(",\n" if JsonOutput.printed else "[\n")
            JsonOutput.printed = True
            sys.stdout.write(msgspec.json.encode(finding_line(finding)).decode())
        else:
            self._out.print(as_text(finding))

    def close(self, name: str, validation: ValidationRun) -> None:
        """Print the table of violated rules, and the verdict."""
        if self._json:
            self.close_array()
            return
        if self._hidden:
            self._out.print(f"... and {self._hidden:,} more; --max 0 lists them all")
        if self.chosen:
            self._out.print()
            self._out.print(rule_table(self.by_rule, validation))
        self._out.print(verdict(name, validation))

    def close_array(self) -> None:
        """End the JSON array; without findings it is empty."""
        sys.stdout.write("\n]\n" if JsonOutput.printed else "[]\n")
        JsonOutput.printed = True


def as_text(finding: Finding) -> Text:
    """Return a finding as a line of text."""
    place = (
        "whole backup" if finding.frame is None else "header" if finding.frame == 0 else f"frame {finding.frame}"
    )
    rule = finding.rule
    detail = f" ({finding.detail})" if finding.detail else ""
    return Text.assemble(
        (finding.severity, STYLES[finding.severity]),
        f" {place}",
        f" {finding.path}" if finding.path else "",
        f": {rule.wrong.removesuffix('.')}{detail}.",
        " It may be among what could not be read." if finding.consequence else "",
        (f" [{rule.id}]", "dim"),
    )


def rule_table(by_rule: Counter[Rule], validation: ValidationRun) -> Text:
    """Return a table of the violated rules with counts, advice and consequences."""
    lines = Text()
    for rule, count in by_rule.most_common():
        severity = rule.severity(validation.profile) or Severity.NOTE
        lines.append(f"{count:,} x ")
        lines.append(rule.id, STYLES[severity])
        lines.append(f": {rule.advice} {rule.importer}\n")
    return lines


def verdict(name: str, validation: ValidationRun) -> Text:
    """Return the verdict in one line."""
    counts = validation.counts
    named = [count_of(counts[severity], severity) for severity in Severity if counts[severity]]
    if not validation.readable:
        rest = f": {', '.join(named)}, and nothing in it can be read ({validation.profile})"
        return Text.assemble(f"{name} is ", ("not valid", "bold red"), rest)
    editions = {Edition.SPEC: "the specification", Edition.CURRENT: "the current format", None: "the format"}
    result = ("valid", "bold green") if validation.valid else ("not valid", "bold red")
    findings = ", ".join(named) or "no findings"
    if validation.consequences:
        findings += f" ({validation.consequences:,} of them maybe only because of what could not be read)"
    edition = editions[validation.edition]
    rest = (
        f": {findings} in {count_of(validation.frames, 'frame')}, checked against {edition} ({validation.profile})"
    )
    return Text.assemble(f"{name} is ", result, rest)


def validate_backup(
    file: SourceArgument,
    *,
    profile: Annotated[
        Literal["strict", "import"],
        typer.Option("--profile", help="Check everything an exporter should do, or only what breaks an import."),
    ] = "strict",
    edition: Annotated[
        Literal["auto", "spec", "current"],
        typer.Option("--edition", help="The edition of the format; auto detects it."),
    ] = "auto",
    purpose: Annotated[
        Literal["remote", "transfer", "takeout"],
        typer.Option("--purpose", help="The purpose of the backup, which it does not contain."),
    ] = "remote",
    most: Annotated[
        int, typer.Option("--max", min=0, help="List this many findings and count the rest; 0 lists all.")
    ] = SHOWN,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", help="Only findings of this rule or prefix; may be repeated."),
    ] = None,
    severity: Annotated[
        Literal["error", "warning", "note"],
        typer.Option("--severity", help="Only findings of this severity or higher."),
    ] = "note",
    media: Annotated[
        bool,
        typer.Option(
            "--media",
            help="Decrypt every attachment instead of only checking that it exists, and find unreferenced ones.",
        ),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="The number of validation threads. Default: up to four."),
    ] = None,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Validate a backup: list each finding with its place, its rule and what an importer does."""
    unknown = [
        name for name in rule or [] if not any(rule_matches(defined_rule.id, name) for defined_rule in RULES)
    ]
    if unknown:
        raise typer.BadParameter(f"there is no rule {unknown[0]}; see holdfast backup rules", param_hint="--rule")
    # With `--json` all findings are printed by default.
    report = FindingPrinter(
        most=0 if json and most == SHOWN else most, rules=rule or [], severity=Severity(severity), as_json=json
    )

    def validate_with(keys: KeyMaterial | None) -> ValidationRun:
        with (
            byte_progress(file.name, size_of(file)) as progress,
            start_validation(
                resolve_input(file),
                keys,
                profile=profile,
                edition=edition,
                purpose=purpose,
                media=media,
                threads=threads,
                progress=progress,
            ) as validation,
        ):
            for finding in validation:
                report.add(finding)
            return validation

    try:
        validation = with_keys(validate_with, key=key, key_file=key_file, account_id=account_id)
    except HoldfastError:
        if json and JsonOutput.printed:
            report.close_array()
        raise
    report.close(file.name if str(file) != "-" else "the input", validation)
    if not validation.valid:
        raise typer.Exit(ExitCode.NO)


def rule_matches(rule: str, name: str) -> bool:
    """Return whether a name is the id of a rule or a prefix of it."""
    return rule == name or rule.startswith(f"{name}.")


def list_rules(
    name: Annotated[str | None, typer.Argument(help="Only this rule or prefix.")] = None,
    *,
    json: JsonOption = False,
) -> None:
    """List the rules with severity, source and text."""
    chosen = [rule for rule in RULES if name is None or rule_matches(rule.id, name)]
    if not chosen:
        raise typer.BadParameter(f"there is no rule {name}", param_hint="NAME")
    if json:
        print_json([rule_line(rule) for rule in chosen])
        return
    out = console()
    for rule in chosen:
        show_rule(out, rule)


def show_rule(out: Console, rule: Rule) -> None:
    """Print a rule."""
    marks = [
        f"{profile} {severity or 'off'}"
        for profile, severity in (("strict", rule.strict), ("import", rule.lenient))
    ]
    if len(rule.editions) == 1:
        marks.append(f"only {next(iter(rule.editions))}")
    out.print(Text.assemble((rule.id, "bold"), f"  {', '.join(marks)}  ({rule.source})"))
    out.print(Text(f"    {rule.wrong} {rule.advice} {rule.importer}"))
    if rule.fields:
        out.print(Text(f"    {join_fields(rule.fields)}", style="dim"))


def join_fields(fields: tuple[str, ...]) -> str:
    """Join the names of fields, up to a limit."""
    more = f" and {len(fields) - FIELDS_SHOWN} more" if len(fields) > FIELDS_SHOWN else ""
    return f"{', '.join(fields[:FIELDS_SHOWN])}{more}"
