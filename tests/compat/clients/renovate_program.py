"""Renovate itself, unmodified, updates a dependency and merges its pull request; `make renovate` runs this.

It has too many packages to be installed for every run of the tests. The dependency is on the service too: its
versions are the tags of another repository, so no other host is contacted.
"""

import json
import os
from collections.abc import Callable

import pytest

from tests.compat.clients.people import Person
from tests.compat.clients.runtimes import program, run
from tests.conftest import wait_for

pytestmark = [pytest.mark.parametrize("settings", ["sqlite"], indirect=True), pytest.mark.timeout(600)]
BRANCH = "renovate/bot-ropes-1.x"


def configuration(address: str, *, by_platform: bool) -> str:
    """Return the configuration in the repository: dependencies are named in a text file."""
    manager = {
        "customType": "regex",
        "fileMatch": ["^versions\\.txt$"],
        "matchStrings": ["(?<depName>[a-z/]+)=(?<currentValue>[0-9.]+)"],
        "datasourceTemplate": "gitea-tags",
        "registryUrlTemplate": address,
        "versioningTemplate": "semver",
    }
    return json.dumps(
        {
            "customManagers": [manager],
            "enabledManagers": ["custom.regex"],
            "automerge": True,
            "platformAutomerge": by_platform,
            "dependencyDashboard": False,
        }
    )


class Renovate:
    """The Renovate program, and the repositories it works on."""

    def __init__(self, bot: Person) -> None:
        self.bot = bot
        self.folder = bot.folder / "renovate"
        self.folder.mkdir()
        bot.make("ropes")
        bot.clone("bot/ropes", "ropes")
        for version in ("1.0.0", "1.1.0"):
            bot.commit("ropes", "rope.txt", version)
            bot.git("tag", version, inside="ropes")
        bot.git("push", "--quiet", "--tags", "origin", "main", inside="ropes")
        bot.make("app")

    def configure(self, *, by_platform: bool) -> None:
        """Commit the configuration, and an old dependency."""
        self.bot.clone("bot/app", "app")
        self.bot.commit("app", "renovate.json", configuration(self.bot.service.url, by_platform=by_platform))
        self.bot.commit("app", "versions.txt", "bot/ropes=1.0.0\n")
        self.bot.git("push", "--quiet", inside="app")

    def run(self) -> str:
        """Run it once, without any user configuration."""
        command = [program("node", "nodejs"), os.environ["HOLDFAST_TEST_RENOVATE"], "bot/app"]
        return run(
            command,
            folder=self.folder,
            RENOVATE_PLATFORM="gitea",
            RENOVATE_ENDPOINT=self.bot.service.url,
            RENOVATE_TOKEN=self.bot.token,
            RENOVATE_BASE_DIR=str(self.folder),
            RENOVATE_ONBOARDING="false",
            RENOVATE_GIT_AUTHOR="Renovate <bot@example.org>",
            LOG_LEVEL="debug",
        )

    def pull(self) -> dict[str, object]:
        """Return its only pull request."""
        (pulls,) = self.bot.api.get("/repos/bot/app/pulls", params={"state": "all"}).json()
        return dict(pulls)

    def succeed(self) -> None:
        """Report success for the head of its branch, as a CI server does."""
        head = self.bot.api.get(f"/repos/bot/app/branches/{BRANCH}").json()["commit"]["id"]
        body = {"context": "ci/test", "state": "success"}
        assert self.bot.api.post(f"/repos/bot/app/statuses/{head}", json=body).status_code == 201

    def versions(self) -> str:
        """Return the dependencies on the default branch."""
        return self.bot.api.get("/repos/bot/app/raw/versions.txt").text


@pytest.fixture
def renovate(person: Callable[[str], Person]) -> Renovate:
    """Create a repository with an old dependency on another one."""
    return Renovate(person("bot"))


def test_it_merges_once_the_status_is_a_success(renovate: Renovate) -> None:
    """By itself: the first run opens the pull request, a later one merges it."""
    renovate.configure(by_platform=False)
    renovate.run()
    assert (renovate.pull()["state"], renovate.pull()["merged"]) == ("open", False)
    renovate.run()
    assert renovate.pull()["merged"] is False
    renovate.succeed()
    said = renovate.run()
    assert renovate.pull()["merged"] is True, said
    assert renovate.versions() == "bot/ropes=1.1.0\n"


def test_it_leaves_the_merge_to_the_service(renovate: Renovate) -> None:
    """As a scheduled merge, which happens with the status and deletes the branch."""
    rule = {
        "rule_name": "main",
        "enable_push": True,
        "enable_status_check": True,
        "status_check_contexts": ["ci/*"],
    }
    renovate.configure(by_platform=True)
    assert renovate.bot.api.post("/repos/bot/app/branch_protections", json=rule).status_code == 201
    said = renovate.run()
    assert "Gitea-native automerge: success" in said, said
    assert renovate.pull()["merged"] is False
    renovate.succeed()
    wait_for(lambda: renovate.pull()["merged"] is True)
    assert renovate.versions() == "bot/ropes=1.1.0\n"
    wait_for(lambda: renovate.bot.api.get(f"/repos/bot/app/branches/{BRANCH}").status_code == 404)
    renovate.run()
    assert renovate.pull()["merged"] is True
