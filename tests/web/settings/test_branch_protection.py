"""The branch protection pages."""

import re
from html import unescape

from msgspec.structs import asdict

from holdfast.hosting.services.branch_protection import ProtectionEdit
from holdfast.web.settings.branch_protection import FIELDS, ProtectionForm
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/guild/ship/settings/branches"
API = "/repos/guild/ship/branch_protections"


def test_the_form_has_every_setting_of_the_api() -> None:
    """A setting that only the API shows would surprise the people who have to satisfy it."""
    assert set(FIELDS) == set(ProtectionEdit.__struct_fields__)
    assert set(ProtectionForm.__struct_fields__) == {"rule_name", *FIELDS}


def test_a_rule_is_created_changed_and_deleted(guild: OrganizationFixture) -> None:
    """The API returns the values of the form, and saving a form changes only the edited field."""
    ada = guild.visit("ada")
    assert "Protect main" in ada.get(PAGE).text
    form = {
        "rule_name": "release/**",
        "enable_push": "on",
        "enable_push_whitelist": "on",
        "push_whitelist_usernames": "cleo, dora",
        "push_whitelist_teams": "Owners",
        "protected_file_patterns": "*.lock",
        "priority": "3",
    }
    assert ada.post(f"{PAGE}/new", data=form).headers["location"] == PAGE
    (rule,) = guild.api.get(API).json()
    assert rule["push_whitelist_usernames"] == ["cleo", "dora"]
    assert rule["push_whitelist_teams"] == ["Owners"]
    assert (rule["priority"], rule["enable_force_push"]) == (3, False)
    assert "Push restricted to 3" in ada.get(PAGE).text

    shown_response = ada.get(f"{PAGE}/rule", params={"name": "release/**"})
    assert "cleo, dora" in shown_response.text
    response = ada.post(f"{PAGE}/rule", data={**asdict(ProtectionForm(**form)), "require_signed_commits": "on"})
    assert response.status_code == 303
    (again,) = guild.api.get(API).json()
    assert again == {**rule, "require_signed_commits": True, "updated_at": again["updated_at"]}
    assert ada.post(f"{PAGE}/remove", data={"rule_name": "release/**"}).status_code == 303
    assert guild.api.get(API).json() == []


def form_values(page: str) -> dict[str, str]:
    """Return the values that a browser sends when the form is submitted unchanged."""
    values = dict.fromkeys(re.findall(r'type="checkbox"[^>]* name="(\w+)"[^>]* checked', page), "on")
    values |= {
        name: unescape(text) for name, text in re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>([^<]*)<', page)
    }
    for tag in re.findall(r"<input[^>]*>", page):
        name, value = re.search(r' name="(\w+)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and value and 'type="checkbox"' not in tag and (name[1] in FIELDS or name[1] == "rule_name"):
            values[name[1]] = unescape(value[1])
    return values


def test_requirements_of_a_merge_are_set_and_shown(guild: OrganizationFixture) -> None:
    """The API returns the values of the form, and saving the form unchanged changes nothing."""
    ada = guild.visit("ada")
    form = {
        "rule_name": "main",
        "enable_push": "on",
        "push_whitelist_deploy_keys": "on",
        "force_push_allowlist_deploy_keys": "on",
        "required_approvals": "2",
        "enable_approvals_whitelist": "on",
        "approvals_whitelist_username": "dora",
        "approvals_whitelist_teams": "Owners",
        "block_on_codeowner_reviews": "on",
        "block_on_rejected_reviews": "on",
        "block_on_official_review_requests": "on",
        "dismiss_stale_approvals": "on",
        "ignore_stale_approvals": "on",
        "enable_status_check": "on",
        "status_check_contexts": "ci/test\r\n  ci/build \r\n\r\n",
        "enable_merge_whitelist": "on",
        "merge_whitelist_usernames": "cleo,dora",
        "block_on_outdated_branch": "on",
        "enable_bypass_allowlist": "on",
        "bypass_allowlist_usernames": "ada",
        "block_admin_merge_override": "on",
    }
    assert ada.post(f"{PAGE}/new", data=form).status_code == 303
    (rule,) = guild.api.get(API).json()
    flags = {name for name, value in form.items() if value == "on"}
    assert {name for name, value in rule.items() if value is True} == flags
    assert (rule["required_approvals"], rule["status_check_contexts"]) == (2, ["ci/test", "ci/build"])
    assert (rule["approvals_whitelist_username"], rule["approvals_whitelist_teams"]) == (["dora"], ["Owners"])
    assert (rule["merge_whitelist_usernames"], rule["bypass_allowlist_usernames"]) == (["cleo", "dora"], ["ada"])
    listed = ada.get(PAGE).text
    assert (
        "2 approvals required, code owner review required, status checks required, merge restricted to 2" in listed
    )

    shown = ada.get(f"{PAGE}/rule", params={"name": "main"}).text
    assert ada.post(f"{PAGE}/rule", data=form_values(shown)).status_code == 303
    (again,) = guild.api.get(API).json()
    assert again == {**rule, "updated_at": again["updated_at"]}
    assert ada.post(f"{PAGE}/rule", data={"rule_name": "main", "required_approvals": "1"}).status_code == 303
    (cleared,) = guild.api.get(API).json()
    assert not {name for name, value in cleared.items() if value is True}
    assert "1 approval required" in ada.get(PAGE).text


def test_invalid_names_and_fields_are_refused(guild: OrganizationFixture) -> None:
    """Unusual rule names are accepted; errors are shown and the typed values are kept."""
    ada = guild.visit("ada")
    for name in ("..", "a/", EVIL, "ä b?c#d"):
        assert ada.post(f"{PAGE}/new", data={"rule_name": name}).status_code == 303
        assert ada.get(f"{PAGE}/rule", params={"name": name}).status_code == 200
    assert "<script>" not in ada.get(PAGE).text
    for wrong, said in (
        ({"rule_name": ""}, "Rule name is required."),
        ({"push_whitelist_usernames": "nobody-here"}, "There is no user named nobody-here."),
        ({"push_whitelist_teams": "nobody-here"}, "There is no team named nobody-here."),
        ({"priority": "-1"}, "must be a whole number"),
        ({"required_approvals": "1001"}, "must be between 0 and 1000"),
        ({"merge_whitelist_usernames": "nobody-here"}, "There is no user named nobody-here."),
        ({"protected_file_patterns": "[a"}, "Protected file patterns"),
        ({"rule_name": ".."}, "There is already a rule with this name."),
    ):
        response = ada.post(
            f"{PAGE}/new", data={"rule_name": "main", "unprotected_file_patterns": "typed", **wrong}
        )
        assert 400 <= response.status_code < 500, wrong
        assert said in response.text, (wrong, said)
        assert "typed" in response.text


def test_only_administrators_manage_rules(guild: OrganizationFixture) -> None:
    """Writers get status 403, and an unknown rule is not found."""
    assert guild.statuses(PAGE) == {
        "-": 404,
        "eve": 404,
        "ben": 403,
        "cleo": 403,
        "dora": 200,
        "ada": 200,
        "admin": 200,
    }
    dora = guild.visit("dora")
    assert dora.get(f"{PAGE}/rule", params={"name": "nothing"}).status_code == 404
    assert dora.post(f"{PAGE}/rule", data={"rule_name": "nothing"}).status_code == 404
    assert dora.post(f"{PAGE}/remove", data={"rule_name": "nothing"}).status_code == 404
    assert guild.api.post(API, json={"rule_name": "main"}).status_code == 201
    (rule,) = guild.api.get(API).json()
    for name, status in (("cleo", 403), ("eve", 404)):
        for path in ("new", "rule", "remove"):
            form = {"rule_name": "other" if path == "new" else "main", "required_approvals": "1"}
            assert guild.visit(name).post(f"{PAGE}/{path}", data=form).status_code == status
    assert guild.api.get(API).json() == [rule]
