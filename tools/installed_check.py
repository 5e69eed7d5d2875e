"""Check an installation from outside: run its command on a small backup. Needs nothing but what is installed.

    python installed_check.py [compiled | interpreted]

The name of the core that is expected is optional. cibuildwheel runs this with every wheel it builds.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FRAMES = [
    {"version": "1", "backupTimeMs": "1765923009137", "mediaRootBackupKey": "A" * 43 + "="},
    {
        "account": {
            "profileKey": "A" * 43 + "=",
            "givenName": "Robin",
            "accountSettings": {"phoneNumberSharingMode": "NOBODY"},
        }
    },
    {"recipient": {"id": "1", "self": {}}},
    {
        "recipient": {
            "id": "2",
            "contact": {"aci": "AAAAAAAAQACAAAAAAAAAAQ==", "registered": {}, "profileGivenName": "Ivo"},
        }
    },
    {"chat": {"id": "1", "recipientId": "2", "expireTimerVersion": 1}},
    {
        "chatItem": {
            "chatId": "1",
            "authorId": "2",
            "dateSent": "1765923000000",
            "incoming": {"dateReceived": "1765923000100", "dateServerSent": "1765923000050"},
            "standardMessage": {"text": {"body": "the lighthouse at noon"}},
        }
    },
]


def holdfast(*arguments: str, folder: str) -> str:
    """Run the installed command, and return what it prints."""
    program = shutil.which("holdfast", path=str(Path(sys.executable).parent)) or shutil.which("holdfast")
    if program is None:
        raise SystemExit("the command `holdfast` is not installed beside this Python")
    done = subprocess.run(
        [program, *arguments], check=False, cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise SystemExit(
            f"holdfast {' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def main(expected: str | None = None) -> int:
    """Read a backup, import it into an archive and find a message."""
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps(frame) + "\n" for frame in FRAMES)
        (Path(folder) / "chats.jsonl").write_text(lines, encoding="utf-8")
        version = json.loads(holdfast("version", "--json", folder=folder))
        if expected not in {None, version["core"]}:
            raise SystemExit(f"the core is {version['core']}, not {expected}")
        holdfast("backup", "validate", "chats.jsonl", folder=folder)
        holdfast("backup", "convert", "chats.jsonl", "chats.binproto", folder=folder)
        holdfast("archive", "import", "all.db", "chats.binproto", folder=folder)
        if "the lighthouse at noon" not in holdfast("archive", "search", "all.db", "lighthouse", folder=folder):
            raise SystemExit("the imported message was not found")
    print(f"holdfast {version['holdfast']}, core {version['core']}: works")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="installed_check.py", description="Check an installation from outside.")
    parser.add_argument("core", nargs="?", choices=["compiled", "interpreted"], help="the core that is expected")
    sys.exit(main(parser.parse_args().core))
