"""A git client for tests: the real program, without any user configuration."""

import os
import subprocess
from pathlib import Path

__all__ = ["Git", "address"]


def address(url: str, name: str, password: str, repository: str) -> str:
    """Return the URL of a repository with the credentials of a user in it."""
    return url.replace("://", f"://{name}:{password}@") + f"/{repository}.git"


class Git:
    """A working copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "LC_ALL": "C",
        }

    def try_to(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git and return the completed process, also when it failed."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def fed(self, *arguments: str, text: str) -> str:
        """Run git with some input, which must succeed, and return its output."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        )
        return done.stdout.strip()

    def __call__(self, *arguments: str) -> str:
        """Run git, which must succeed, and return its output."""
        done = self.try_to(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, name: str, content: str, message: str = "a change") -> str:
        """Commit one file and return the commit."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self("add", "--", name)
        self("commit", "-q", "-m", message)
        return self("rev-parse", "HEAD")
