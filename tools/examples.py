"""The worked example on each command's page, read from examples.toml and run by tests/project/test_examples.py."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Setup:
    """What is there before an example starts: a sentence for readers and the lines that make it."""

    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One line to type and what it prints, where `...` stands for anything."""

    line: str
    output: str

    def matches(self, printed: str) -> bool:
        """Compare what was printed, but for spaces at the ends of lines.

        A line of `...` alone stands for one or more lines; elsewhere three dots or more stay within their line.
        """
        pattern = ""
        for line in self.output.splitlines():
            if line.strip() == "...":
                pattern += r"(?:.*\n)+?"
            else:
                pattern += ".*?".join(re.escape(part) for part in re.split(r"\.{3,}", line)) + r"\n"
        tidy = "".join(line.rstrip() + "\n" for line in printed.strip("\n").splitlines())
        return re.fullmatch(pattern, tidy) is not None


@dataclass(frozen=True)
class Example:
    """A session at a shell that shows one command."""

    command: str
    setup: str
    session: str

    @property
    def steps(self) -> list[Step]:
        """The lines to type, each with its output."""
        parts = re.split(r"^\$ ", self.session, flags=re.MULTILINE)
        if parts[0]:
            raise ValueError(f"the example of {self.command} does not begin with a line to type")
        return [Step(line, output) for line, _, output in (part.partition("\n") for part in parts[1:])]


def read() -> tuple[dict[str, Setup], dict[str, Example]]:
    """Read the set-ups by name and the examples by command."""
    tables = tomllib.loads(SOURCE.read_text())
    setups = {name: Setup(table["text"], tuple(table["lines"])) for name, table in tables.pop("setups").items()}
    examples = {name: Example(name, table["setup"], table["session"]) for name, table in tables.items()}
    return setups, examples


def section(command: str) -> str:
    """Write the section about a command's example for its page."""
    setups, examples = read()
    if command not in examples:
        raise ValueError(f"{command} has no example; add one to {SOURCE.name}")
    example = examples[command]
    text = setups[example.setup].text
    about = f"{text}\n\n" if text else ""
    return f"## Example\n\n{about}```console\n{example.session}```\n"
