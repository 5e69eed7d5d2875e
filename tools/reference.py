"""Write docs/reference/ from the code: commands, settings, rules, Python names, exports, what webhooks send.

With `--check` nothing is written, and the exit status is 1 when a page is missing, stale or left over.
"""

import argparse
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperGroup

from holdfast.backup.rules.registry import FAMILIES
from holdfast.backup.rules.unchecked_fields import REASONS
from holdfast.cli import app
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.lazy_commands import LazyGroup
from holdfast.settings import describe
from tools import components, dataset_page, examples, exports, payloads, python_api

FOLDER = Path("docs/reference")
MADE = "<!-- Made by `make docs` from the code; edit the code instead. -->\n"
LIBRARIES = ("holdfast.backup", "holdfast.settings")
PYTHON = """\
What is listed here is public: [what that promises](../stability.md). The examples run in a folder with two made-up
backups: `chats.binproto`, which `holdfast backup sample chats.binproto --messages 200 --seed 1` wrote, and a
phone's folder `phone`; `key_file` is the text of its key file.
"""


@dataclass(frozen=True)
class Option:
    """One argument or option of a command."""

    spelling: str
    help: str
    default: str


@dataclass(frozen=True)
class Command:
    """One command people can type."""

    words: tuple[str, ...]
    help: str
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]

    @property
    def page(self) -> str:
        """The name of its page."""
        return "-".join(self.words) + ".md"


def commands() -> list[Command]:
    """List every command, the root's own options first."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    return sorted(walk(root, ("holdfast",)), key=lambda command: command.words)


def walk(group: TyperGroup, words: tuple[str, ...]) -> Iterator[Command]:
    """Follow the groups down to their commands."""
    for name in group.commands:
        command = group.load(name) if isinstance(group, LazyGroup) else group.commands[name]
        if isinstance(command, TyperGroup):
            yield from walk(command, (*words, name))
        else:
            arguments, options = [], []
            for parameter in command.params:
                spelling = ", ".join((*parameter.opts, *parameter.secondary_opts))
                text = getattr(parameter, "help", None) or ""
                value = parameter.default
                shown = "" if value is None or value is False or callable(value) else str(value)
                if isinstance(parameter, TyperArgument):
                    arguments.append(Option(str(parameter.name).upper(), text, shown))
                else:
                    options.append(Option(spelling, text, shown))
            yield Command((*words, name), command.help or "", tuple(arguments), tuple(options))


def command_page(command: Command) -> str:
    """Write the page of one command."""
    usage = " ".join([*command.words, *(item.spelling for item in command.arguments), "[options]"])
    lines = [MADE, f"# {' '.join(command.words)}\n", command.help + "\n", f"```\n{usage}\n```\n"]
    if command.arguments:
        lines.append("| argument | what it is |\n|---|---|")
        lines.extend(f"| `{item.spelling}` | {item.help} |" for item in command.arguments)
        lines.append("")
    if command.options:
        lines.append("| option | what it does |\n|---|---|")
        lines.extend(f"| `{item.spelling}` | {item.help} |" for item in command.options)
        lines.append("")
    lines.append(examples.section(" ".join(command.words)))
    lines.append("[All commands](index.md)\n")
    return "\n".join(lines)


def first_line(text: str) -> str:
    """Take the first paragraph of a text as one line for a cell of a table."""
    return " ".join(text.split("\n\n", 1)[0].split()).replace("|", "\\|")


def command_index() -> str:
    """Write the list of commands and what their exit status means."""
    lines = [MADE, "# Commands\n", "| command | what it does |\n|---|---|"]
    lines.extend(f"| [`{' '.join(item.words)}`]({item.page}) | {first_line(item.help)} |" for item in commands())
    lines.append(
        "\nBefore any command: `--debug` shows the traceback when something goes wrong, `--log-level` and"
    )
    lines.append("`--log-format` say what is logged and how. `--help` works everywhere.\n")
    lines.append("## Exit status\n\n| status | meaning |\n|---|---|")
    lines.extend(f"| {int(status)} | {status.meaning} |" for status in ExitCode)
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Write the list of settings."""
    lines = [
        MADE,
        "# Settings\n",
        "A setting comes from the command line, else the environment, else a TOML file (`HOLDFAST_CONFIG` or",
        "`--config` names it; one `name = value` a line), else its default. `holdfast settings` shows what is",
        "in force and where it came from.\n",
        "| name | environment | what it does | allowed | default |\n|---|---|---|---|---|",
    ]
    lines.extend(
        f"| `{item.name}` | `{item.variable}` | {item.description}{' Kept secret.' if item.secret else ''} "
        f"| {item.allowed} | {item.default} |"
        for item in describe()
    )
    return "\n".join(lines) + "\n"


def python_page() -> str:
    """Write the public names of the libraries."""
    return "\n".join([MADE, "# Python\n", PYTHON, *map(python_api.section, LIBRARIES)])


def rules_page() -> str:
    """Write the table of rules."""
    lines = [
        MADE,
        "# Rules\n",
        "What `holdfast backup validate` asks of a backup; see [the guide](../guides/validating.md). Under each",
        "profile a broken rule is an error, a warning, a note, or not asked. A rule marked *spec* or *current* is",
        "asked in that edition only.\n",
    ]
    for family, rules in FAMILIES.items():
        doc = inspect.getdoc(import_module(f"holdfast.backup.rules.{family}")) or ""
        lines.append(f"## {family}\n\n{doc.partition(chr(10))[0]}\n")
        lines.append(
            "| rule | strict | import | what is wrong | what to do | what an importer does | looks at | from |"
        )
        lines.append("|---|---|---|---|---|---|---|---|")
        for rule in rules:
            mark = f" *{next(iter(rule.editions))}*" if len(rule.editions) == 1 else ""
            fields = ", ".join(f"`{name}`" for name in rule.fields) or "-"
            lines.append(
                f"| `{rule.id}`{mark} | {rule.strict or '-'} | {rule.lenient or '-'} | {rule.wrong} "
                f"| {rule.advice} | {rule.importer} | {fields} | {rule.source} |"
            )
        lines.append("")
    lines.append("## Fields without a rule\n")
    lines.append(
        "Every other field of the format is looked at by a rule; for each of these there is a reason why not.\n"
    )
    lines.append("| why | fields |\n|---|---|")
    lines += [f"| {why} | {', '.join(f'`{name}`' for name in fields)} |" for why, fields in REASONS]
    lines.append("")
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Make every page of the reference."""
    made = {FOLDER / "commands" / command.page: command_page(command) for command in commands()}
    made[FOLDER / "commands" / "index.md"] = command_index()
    made[FOLDER / "settings.md"] = settings_page()
    made[FOLDER / "python.md"] = python_page()
    made[FOLDER / "webhook-payloads.md"] = f"{MADE}\n{payloads.page()}"
    made[FOLDER / "rules.md"] = rules_page()
    made[FOLDER / "licences.md"] = f"{MADE}\n{components.page(Path())}"
    made[FOLDER / "exports.md"] = f"{MADE}\n{exports.page()}"
    made[FOLDER / "dataset.md"] = f"{MADE}\n{dataset_page.page()}"
    made |= dict.fromkeys(exports.SCHEMAS, exports.schema())
    return made


def stale() -> list[str]:
    """List the pages that are missing, out of date or left over."""
    made = pages()
    wrong = [str(path) for path, text in made.items() if not path.is_file() or path.read_text() != text]
    left_over = [str(path) for path in FOLDER.rglob("*.md") if path not in made]
    return sorted(wrong + left_over)


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.reference", description="Write docs/reference/ from the code."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not up to date")
    if parser.parse_args().check:
        wrong = stale()
        if wrong:
            print("stale, run `make docs`:", *wrong, sep="\n  ")
        return 1 if wrong else 0
    made = pages()
    for path in FOLDER.rglob("*.md"):
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
