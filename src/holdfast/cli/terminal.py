"""The console of commands: wraps text at words on a terminal, and never in a pipe."""

import re
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

__all__ = ["CommandConsole"]

# A word with the spaces after it. A quoted command is one: the terminal breaks it, and copies it as one line.
WORD: Final = re.compile(r"(?:`[^`]*`|\S)+\s*")
# The fewest columns that are worth wrapping for.
NARROWEST: Final = 20


class CommandConsole(Console):
    """A console for the output of a command.

    Rich wraps lines without their indentation, breaks words, and exits with status 1 when a pipe is closed.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a text on a terminal is wrapped at words, with the indentation of its lines."""
        if len(objects) == 1 and isinstance(objects[0], str | Text) and self.is_terminal and not options:
            printed = objects[0]
            text = printed if isinstance(printed, Text) else self.render_str(printed)
            objects = (self.wrapped(text),)
        super().print(*objects, **options)

    def wrapped(self, text: Text) -> Text:
        """Wrap the lines of a text that are wider than the terminal."""
        return Text("\n").join(self.wrapped_line(line) for line in text.split("\n", allow_blank=True))

    def wrapped_line(self, line: Text) -> Text:
        """Wrap a line, with its indentation before each part; words and commands stay whole."""
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        columns = self.width - indent
        if line.cell_len <= self.width or columns < NARROWEST:
            return line
        breaks: list[int] = []
        used = 0
        for word in WORD.finditer(line.plain, indent):
            if used and used + cell_len(word[0].rstrip()) > columns:
                breaks.append(word.start())
                used = 0
            used += cell_len(word[0])
        parts = line.divide(breaks)
        for part in parts[:-1]:
            part.rstrip()
        return Text(f"\n{' ' * indent}").join(parts)

    def on_broken_pipe(self) -> None:
        """Raise the error of a closed pipe again: the entry point decides on the exit status."""
        raise BrokenPipeError
