"""Settings: defaults, environment, file, and errors of invalid values."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.secret import Secret
from holdfast.settings import SettingError, Settings, describe, load


def test_defaults_hold_when_nothing_is_set() -> None:
    """An empty environment gives the documented defaults, each marked as such."""
    loaded = load({})
    assert loaded.settings == Settings()
    assert set(loaded.sources.values()) == {"default"}


def test_the_environment_sets_and_an_empty_variable_does_not() -> None:
    """A variable with the prefix sets its setting, and an empty one leaves the default."""
    loaded = load({"HOLDFAST_PORT": "8080", "HOLDFAST_HOST": "", "PORT": "1"})
    assert loaded.settings.port == 8080
    assert loaded.settings.host == "127.0.0.1"
    assert loaded.sources["port"] == "environment"


def test_a_file_sets_what_the_environment_does_not(tmp_path: Path) -> None:
    """Command line beats environment beats file beats default."""
    file = tmp_path / "holdfast.toml"
    file.write_text('port = 1000\nhost = "0.0.0.0"\nlog_format = "json"\ndemo = true\n')
    loaded = load(
        {"HOLDFAST_PORT": "2000", "HOLDFAST_HOST": "::1"}, config=file, overrides={"port": 3000, "data": None}
    )
    assert (loaded.settings.port, loaded.settings.host, loaded.settings.log_format) == (3000, "::1", "json")
    assert loaded.settings.demo is True
    assert loaded.sources["port"] == "command line"
    assert loaded.sources["host"] == "environment"
    assert loaded.sources["log_format"] == f"file {file}"
    assert loaded.sources["data"] == "default"


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    """HOLDFAST_CONFIG points at the TOML file."""
    file = tmp_path / "holdfast.toml"
    file.write_text("port = 1000\n")
    assert load({"HOLDFAST_CONFIG": str(file)}).settings.port == 1000


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("HOLDFAST_PORT", "99999", ["port", "'99999'", "0 to 65535"]),
        ("HOLDFAST_PORT", "http", ["port", "'http'", "whole number"]),
        ("HOLDFAST_PORT", "-1", ["port", "'-1'"]),
        ("HOLDFAST_DEMO", "maybe", ["demo", "'maybe'", "true or false"]),
        ("HOLDFAST_LOG_FORMAT", "xml", ["log_format", "'xml'", "text, json"]),
        ("HOLDFAST_DATA", "~no-such-user/x", ["data", "a path"]),
        ("HOLDFAST_ROOT_URL", "git.example.org", ["root_url", "an address such as"]),
        ("HOLDFAST_ROOT_URL", "https://git.example.org/", ["root_url", "without a slash at the end"]),
        ("HOLDFAST_TRUSTED_PROXIES", "10.0.0.1, proxy", ["trusted_proxies", "addresses or networks"]),
        ("HOLDFAST_SESSION_DAYS", "0", ["session_days", "1 to 3650"]),
        ("HOLDFAST_WEBHOOK_ALLOWED_HOSTS", "external,,", ["webhook_allowed_hosts", "networks like 10.0.0.0/8"]),
        ("HOLDFAST_WEBHOOK_ALLOWED_HOSTS", "10.0.0.0/99", ["webhook_allowed_hosts", "a list of external"]),
        ("HOLDFAST_WEBHOOK_ALLOWED_HOSTS", "[a", ["webhook_allowed_hosts", "a list of external"]),
        ("HOLDFAST_WEBHOOK_PROXY_HOSTS", "a b", ["webhook_proxy_hosts", "a list of hosts"]),
        ("HOLDFAST_WEBHOOK_TIMEOUT", "60", ["webhook_timeout", "1 to 25"]),
        ("HOLDFAST_WEBHOOK_PROXY_URL", "proxy:3128", ["webhook_proxy_url", "an address such as http://proxy"]),
        (
            "HOLDFAST_OTLP_ENDPOINT",
            "collector:4318",
            ["otlp_endpoint", "an address such as http://localhost:4318"],
        ),
        ("HOLDFAST_OTLP_ENDPOINT", "grpc://collector", ["otlp_endpoint", "an address such as"]),
        ("HOLDFAST_OTLP_ENDPOINT", "http://:4318", ["otlp_endpoint", "an address such as"]),
    ],
)
def test_a_wrong_value_is_refused_with_name_value_and_what_is_allowed(
    variable: str, value: str, expected: list[str]
) -> None:
    """The error has the name, the value and what is allowed."""
    with pytest.raises(SettingError) as caught:
        load({variable: value})
    for word in [*expected, "environment"]:
        assert word in str(caught.value)


def test_a_misspelt_name_is_refused_with_a_suggestion() -> None:
    """An unknown variable is refused with a suggestion, because it would be ignored otherwise."""
    with pytest.raises(SettingError, match=r"HOLDFAST_DATABSE_URL.*did you mean database_url"):
        load({"HOLDFAST_DATABSE_URL": "postgresql://x"})


def test_a_file_with_a_misspelt_name_is_refused(tmp_path: Path) -> None:
    """An unknown name in the file is refused with a suggestion, as in the environment."""
    file = tmp_path / "holdfast.toml"
    file.write_text("prot = 1\n")
    with pytest.raises(SettingError, match=r"prot \(file .*\) is not a setting; did you mean port"):
        load({}, config=file)


@pytest.mark.parametrize(
    ("content", "pattern"), [("port = ", "not TOML"), ("port = true", "port"), ("data = 3", "data")]
)
def test_a_broken_file_is_refused(tmp_path: Path, content: str, pattern: str) -> None:
    """Broken TOML and values of the wrong type are refused with the file's name."""
    file = tmp_path / "holdfast.toml"
    file.write_text(content)
    with pytest.raises(SettingError, match=pattern) as caught:
        load({}, config=file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A named file must exist."""
    with pytest.raises(SettingError, match="cannot be read"):
        load({}, config=tmp_path / "none.toml")


def test_secrets_are_masked_wherever_they_are_shown() -> None:
    """The repr of the settings, their listing and an error message show no secret."""
    loaded = load({"HOLDFAST_DATABASE_URL": "postgresql://me:hunter2@db/x", "HOLDFAST_ADMIN_PASSWORD": "hunter2"})
    assert loaded.settings.admin_password == Secret("hunter2")
    assert "hunter2" not in repr(loaded) + loaded.shown("database_url") + loaded.shown("admin_password")
    with pytest.raises(SettingError) as caught:
        load({"HOLDFAST_DATABASE_URL": "mysql://me:hunter2@db/x"})
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_variables_of_the_test_suite_are_not_settings() -> None:
    """Variables of the test suite, which may be set while the service runs, are ignored."""
    assert load({"HOLDFAST_CORPUS": "x", "HOLDFAST_TEST_NO_SKIPS": "1"}).settings == Settings()


def test_every_setting_is_described() -> None:
    """Each setting has a description that is a sentence, its allowed values, a default and a variable."""
    assert [setting.name for setting in describe()] == list(Settings.__struct_fields__)
    for setting in describe():
        assert setting.description.endswith("."), setting.name
        assert setting.allowed
        assert setting.default
        assert setting.variable == f"HOLDFAST_{setting.name.upper()}"


@given(st.dictionaries(st.sampled_from([item.variable for item in describe()]), st.text(max_size=20), max_size=4))
def test_any_environment_either_loads_or_is_refused_in_words(environ: dict[str, str]) -> None:
    """No value raises anything but a setting error."""
    with contextlib.suppress(SettingError):
        assert isinstance(load(environ).settings, Settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("root_url", "https://git.example.org/code"),
        ("s3_bucket", "large-files"),
        ("s3_endpoint", "https://s3.example.org"),
        ("trusted_proxies", "10.0.0.0/8, ::1"),
    ],
)
def test_addresses_can_be_set(name: str, value: str) -> None:
    """URLs, buckets and networks are loaded from the environment unchanged."""
    assert getattr(load({f"HOLDFAST_{name.upper()}": value}).settings, name) == value


def test_a_number_that_may_be_unset_can_be_set() -> None:
    """An optional number is accepted within its limits and refused outside of them."""
    assert load({"HOLDFAST_SSH_URL_PORT": "22"}).settings.ssh_url_port == 22
    with pytest.raises(SettingError, match="a whole number from 1 to 65535"):
        load({"HOLDFAST_SSH_URL_PORT": "0"})
