"""Branch protections in a browser."""

import re

from msgspec.structs import asdict

from holdfast.hosting.services.branch_protection import ProtectionEdit
from holdfast.web.settings.branch_protection import FIELDS, ProtectionForm
from tests.web.organization_fixture import EVIL, OrganizationFixture

PAGE = "/guild/ship/settings/branches"
API = "/repos/guild/ship/branch_protections"


def test_the_form_has_every_field_that_is_of_use() -> None:
    """And none that the API does not have."""
    unused = set(ProtectionEdit.__struct_fields__) - set(FIELDS)
    # Nothing here merges, reviews or checks yet, and there are no deploy keys.
    assert all(re.search("merge|approv|review|status|bypass|outdated|deploy_keys", name) for name in unused)
    assert set(FIELDS) < set(ProtectionEdit.__struct_fields__)
    assert set(ProtectionForm.__struct_fields__) == {"rule_name", *FIELDS}


def test_a_rule_is_made_changed_and_removed(guild: OrganizationFixture) -> None:
    """What the form says is what the API answers, and saving it unchanged changes nothing."""
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
    kept_by_programs = {"required_approvals": 2, "enable_status_check": True, "status_check_contexts": ["build"]}
    rule = guild.api.patch(f"{API}/release%2F**", json=kept_by_programs).json()
    assert "Push restricted to 3" in ada.get(PAGE).text

    shown = ada.get(f"{PAGE}/rule", params={"name": "release/**"})
    assert "cleo, dora" in shown.text
    response = ada.post(f"{PAGE}/rule", data={**asdict(ProtectionForm(**form)), "require_signed_commits": "on"})
    assert response.status_code == 303
    (again,) = guild.api.get(API).json()
    assert again == {**rule, "require_signed_commits": True, "updated_at": again["updated_at"]}
    assert ada.post(f"{PAGE}/remove", data={"rule_name": "release/**"}).status_code == 303
    assert guild.api.get(API).json() == []


def test_odd_names_and_wrong_fields(guild: OrganizationFixture) -> None:
    """Any name can be a rule's; what is wrong is said above what was typed."""
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
        ({"protected_file_patterns": "[a"}, "Protected file patterns"),
        ({"rule_name": ".."}, "There is already a rule with this name."),
    ):
        answer = ada.post(f"{PAGE}/new", data={"rule_name": "main", "unprotected_file_patterns": "typed", **wrong})
        assert 400 <= answer.status_code < 500, wrong
        assert said in answer.text, (wrong, said)
        assert "typed" in answer.text


def test_only_whoever_looks_after_it(guild: OrganizationFixture) -> None:
    """Sees and changes rules; a rule that is not there is not found."""
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
    assert guild.visit("cleo").post(f"{PAGE}/new", data={"rule_name": "main"}).status_code == 403
