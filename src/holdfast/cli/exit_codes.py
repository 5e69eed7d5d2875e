"""The exit codes of `holdfast`, which are stable."""

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """The exit codes, each with its meaning."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "ExitCode":
        """Create a member with its value and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    FINE = 0, "fine"
    NO = 1, "the command worked and the answer is no, or what was asked for cannot be done (a file is in the way)"
    USAGE = 2, "wrong usage: an unknown command or option, a wrong setting, a key that is missing or cannot be one"
    UNREADABLE = 3, "the input cannot be read, or is damaged; a server's answer is malformed or breaks off"
    WRONG_KEY = 4, "the key or the passphrase does not fit the file"
    BUG = 70, "a mistake in Holdfast itself; please report it"
    INTERRUPTED = 130, "stopped with Ctrl-C"
