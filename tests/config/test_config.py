"""The configuration: sources, their precedence, and the description of all settings."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from attrs import frozen

from directory_server.config import (
    Config,
    ConfigError,
    UpstreamConfig,
    describe,
    load,
    setting,
    settings_tables,
    shown_settings,
    typed_settings,
)
from directory_server.config._load import SourceValue, build
from directory_server.features import sections
from directory_server.features.sign_in.settings import IssuerConfig
from directory_server.features.statistics.settings import StatisticsConfig

from ._sources import DEFAULTS, load_config, write_toml


def test_file_sets_every_kind_of_setting(tmp_path: Path) -> None:
    file = write_toml(
        tmp_path,
        """
        listen = ["tcp:80", "unix:/run/my directory.sock"]
        data_dir = "/var/lib/directory"
        [http]
        allowed_hosts = ["directory.example.org"]
        allowed_origins = ["https://example.org", "vscode-webview://abc"]
        [quota]
        limit = "unlimited"
        synchronous = "full"
        [streams]
        per_key = 0
        heartbeat = 5
        [keys]
        [log]
        access = "json"
        [metrics]
        listen = "tcp:9090:interface=127.0.0.1"
        """,
    )
    config = load_config(file=file)
    assert config.listen == ("tcp:80", "unix:/run/my directory.sock")
    assert config.data_dir == Path("/var/lib/directory")
    assert config.http.allowed_hosts == ("directory.example.org",)
    assert config.http.allowed_origins == ("https://example.org", "vscode-webview://abc")
    assert (config.quota.limit, config.quota.synchronous) == (None, "full")
    assert config.streams.per_key == 0
    assert isinstance(config.streams.heartbeat, float)
    assert config.streams.heartbeat == 5.0
    assert config.keys == Config().keys
    assert (config.log.access, config.metrics.listen) == ("json", "tcp:9090:interface=127.0.0.1")


UPSTREAM = """
    [[upstream]]
    name = "ours"
    url = "https://registry.example.org"
    headers = ["Authorization: env:TOKEN"]
    [[upstream]]
    name = "official"
    url = "https://registry.modelcontextprotocol.io"
    interval = 7200
    include = ["com.example/*"]
    exclude = ["*/old"]
    floor = 0.5
"""


def test_file_sets_upstreams_in_order(tmp_path: Path) -> None:
    config = load_config(file=write_toml(tmp_path, UPSTREAM))
    ours, official = config.upstream
    assert (ours.name, ours.interval, ours.floor, ours.headers) == ("ours", 3600.0, 0.85, ("Authorization: env:TOKEN",))
    assert (official.name, official.interval, official.floor) == ("official", 7200.0, 0.5)
    assert (official.include, official.exclude) == (("com.example/*",), ("*/old",))
    described = {setting.name: setting.value for setting in describe(config)}
    assert described["upstream.ours.headers"] == "(secret)"
    assert described["upstream.official.url"] == "https://registry.modelcontextprotocol.io"


def test_later_source_overrides_earlier_ones(tmp_path: Path) -> None:
    file = write_toml(tmp_path, "[streams]\nper_key = 1\nheartbeat = 1.5\n[quota]\nlimit = 1\n[keys]\ngrace = 1\n")
    config = load_config(
        "quota.limit=3",
        "quota.limit=4",
        file=file,
        DIRECTORY_SERVER_STREAMS__HEARTBEAT="2.5",
        DIRECTORY_SERVER_QUOTA__LIMIT="2",
    )
    assert (config.keys.grace, config.streams.per_key) == (1.0, 1), "only the file sets these"
    assert config.streams.heartbeat == 2.5, "the environment overrides the file"
    assert config.quota.limit == 4, "the last --set overrides all"


def test_listen_and_data_dir_options_override_set() -> None:
    config = load(
        file=None,
        environ={"DIRECTORY_SERVER_DATA_DIR": "a"},
        settings=["data_dir=b", "listen=tcp:1"],
        listen=["tcp:2", "tcp:3"],
        data_dir=Path("c"),
    )
    assert (config.data_dir, config.listen) == (Path("c"), ("tcp:2", "tcp:3"))


def test_text_is_converted_to_the_type_of_the_setting() -> None:
    config = load_config(
        "http.allowed_hosts=a.example, b.example,",
        "quota.limit=unlimited",
        "quota.synchronous=full",
        DIRECTORY_SERVER_LISTEN="tcp:80  unix:/run/directory.sock",
        DIRECTORY_SERVER_HTTP__ALLOWED_ORIGINS="",
    )
    assert config.listen == ("tcp:80", "unix:/run/directory.sock")
    assert config.http.allowed_hosts == ("a.example", "b.example")
    assert config.http.allowed_origins == ()
    assert (config.quota.limit, config.quota.synchronous) == (None, "full")


def test_environment_names_the_file_unless_an_option_does(tmp_path: Path) -> None:
    file = write_toml(tmp_path, "[quota]\nlimit = 7\n")
    assert load_config(DIRECTORY_SERVER_CONFIG=str(file)).quota.limit == 7
    assert load_config(DIRECTORY_SERVER_CONFIG="").quota.limit == 20
    assert load_config(file=file, DIRECTORY_SERVER_CONFIG="/nowhere").quota.limit == 7


def test_service_variables_of_kubernetes_are_ignored() -> None:
    links = {
        "DIRECTORY_SERVER_SERVICE_HOST": "10.0.0.1",
        "DIRECTORY_SERVER_SERVICE_PORT": "80",
        "DIRECTORY_SERVER_SERVICE_PORT_HTTP": "80",
        "DIRECTORY_SERVER_PORT": "tcp://10.0.0.1:80",
        "DIRECTORY_SERVER_PORT_80_TCP": "tcp://10.0.0.1:80",
        "DIRECTORY_SERVER_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert load(file=None, environ=links, settings=()) == Config()


def test_every_setting_is_described() -> None:
    described = {
        setting.name: (setting.value, setting.meaning) for setting in describe(load_config("quota.limit=unlimited"))
    }
    assert described["listen"] == (
        "tcp:8080:interface=127.0.0.1",
        "Twisted endpoints to listen on, one or more.",
    )
    assert described["quota.limit"][0] == "unlimited"
    assert described["streams.heartbeat"][0] == "15s"
    for _, doc in described.values():
        assert doc.endswith(".")
        assert "\n" not in doc


def test_described_values_can_be_set_again() -> None:
    config = load_config("listen=tcp:1 tcp:2", "http.allowed_hosts=a,b", "quota.limit=unlimited", "keys.grace=0.5")
    assert load_config(*(f"{setting.name}={setting.value}" for setting in describe(config))) == config


@frozen
class Mail:
    password: str = setting("", "Password of the mailbox.", secret=True)
    port: int = setting(25, "Port of the mail server.", secret=True)
    tls: bool = setting(False, "Whether to encrypt.")


@frozen
class Other:
    mail: Mail = Mail()


def test_secrets_are_masked() -> None:
    config = build(Other, [SourceValue(("mail", "password"), "hunter2", "--set", is_text=True)])
    assert config.mail.password == "hunter2"
    assert [setting.value for setting in describe(config)] == ["(secret)", "(secret)", "false"]
    with pytest.raises(ConfigError) as caught:
        build(Other, [SourceValue(("mail", "port"), "hunter2", "--set", is_text=True)])
    assert str(caught.value) == "mail.port (--set): must be a whole number"


def test_upstreams_can_be_urls_in_the_environment() -> None:
    text = "official https://Registry.Example.org:8443/v0.1/servers /srv/Our_List.json"
    config = load(file=None, environ={"DIRECTORY_SERVER_UPSTREAM": text}, settings=())
    assert config.upstream == (
        UpstreamConfig("official", "https://registry.modelcontextprotocol.io"),
        UpstreamConfig("registry.example.org", "https://Registry.Example.org:8443/v0.1/servers"),
        UpstreamConfig("our_list.json", "/srv/Our_List.json"),
    )


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_booleans_are_true_or_false(text: str, value: bool) -> None:
    assert build(Other, [SourceValue(("mail", "tls"), text, "--set", is_text=True)]).mail.tls is value
    with pytest.raises(ConfigError, match=r"mail\.tls \(--set\): must be true or false, not 'yes'"):
        build(Other, [SourceValue(("mail", "tls"), "yes", "--set", is_text=True)])


def test_documentation_has_the_generated_tables() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "operations.md").read_text("utf-8")
    written = runpy.run_path(str(docs / "tables.py"))["with_tables"](text)
    assert text == written, "docs/operations.md: write the tables of settings by: python docs/tables.py"


def test_tables_have_every_setting_once_with_its_type_and_default() -> None:
    tables = settings_tables(sections())
    rows = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| (?:`([^`]*)`)? ?\|", tables, re.MULTILINE)
    listed = dict(rows)
    assert len(rows) == len(listed)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables.splitlines() if line.startswith("| `")} == {5}
    described = [*describe(DEFAULTS), *describe(UpstreamConfig(), "upstream.")]
    settings = {setting.name: setting.value for setting in described}
    # `config` shows the tables of an upstream, not the list.
    settings["upstream"] = settings["sign_in.issuer"] = ""
    settings |= {setting.name: setting.value for setting in describe(IssuerConfig(), "sign_in.issuer.")}
    assert listed == {name: value.removesuffix(".0") for name, value in settings.items()}
    assert "| `quota.limit` | integer ≥ 1 or `unlimited` |" in tables
    assert "| `log.access` | `text`, `json`, `off` |" in tables
    assert "| `accounts.unused` | duration ≥ 1d | `14d` |" in tables
    daily, _, _ = tables.partition("### Rarely needed")
    assert daily.count("\n| `") == 10


@pytest.mark.parametrize(
    ("toml", "text", "value"),
    [
        ('"90d"', "90d", 7_776_000.0),
        ('"12h"', "12h", 43_200.0),
        ('"30m"', "30m", 1_800.0),
        ('"1.5s"', "1.5s", 1.5),
        ('"3600"', "3600", 3_600.0),
        ("3600", "1h", 3_600.0),
        ("0", "0", 0.0),
        ("0.25", "0.25", 0.25),
    ],
)
def test_durations_have_one_form_in_all_sources(tmp_path: Path, toml: str, text: str, value: float) -> None:
    assert load_config(file=write_toml(tmp_path, f"keys.grace = {toml}")).keys.grace == value
    assert load_config(f"keys.grace={text}").keys.grace == value


@pytest.mark.parametrize(
    ("text", "size"),
    [("64MB", 64_000_000), ("64 mib", 67_108_864), ("1GB", 10**9), ("2000kB", 2_000_000), ("1000001", 1_000_001)],
)
def test_sizes_have_one_form_in_all_sources(tmp_path: Path, text: str, size: int) -> None:
    assert load_config(file=write_toml(tmp_path, f'http.queued = "{text}"')).http.queued == size
    assert load_config(f"http.queued={text}").http.queued == size
    assert load_config(file=write_toml(tmp_path, f"http.queued = {size}")).http.queued == size


def test_a_list_of_one_item_may_be_a_string(tmp_path: Path) -> None:
    file = write_toml(tmp_path, 'listen = "unix:/run/my directory.sock"\nhttp.allowed_hosts = "a.example"\n')
    config = load_config(file=file)
    assert config.listen == ("unix:/run/my directory.sock",)
    assert config.http.allowed_hosts == ("a.example",)


def test_typed_settings_have_the_types_of_json() -> None:
    config = load_config("quota.limit=unlimited", "upstream=official", "database=dbname=a", "http.allowed_hosts=a,b")
    typed = typed_settings({**shown_settings(config), "gone.setting": "7"}, sections())
    assert typed["listen"] == ("tcp:8080:interface=127.0.0.1",)
    assert typed["http.allowed_hosts"] == ("a", "b")
    assert (typed["reuse_port"], typed["database_connections"], typed["quota.limit"]) == (False, 3, None)
    assert (typed["keys.grace"], typed["http.queued"]) == (86_400.0, 67_108_864)
    assert (typed["database"], typed["data_dir"]) == ("(secret)", str(Path("data").absolute()))
    assert (typed["upstream.official.official"], typed["upstream.official.floor"]) == (False, 0.85)
    assert typed["gone.setting"] == "7"


def test_a_shown_setting_has_a_line_of_toml_that_sets_it() -> None:
    values = {
        "quota.limit": 'quota.limit = "unlimited"',
        "web.name": 'web.name = "Our \\"servers\\" \\\\"',
        "streams.heartbeat": 'streams.heartbeat = "1m"',
        "listen": 'listen = ["tcp:1", "tcp:2"]',
        "reuse_port": "reuse_port = true",
    }
    texts = {"quota.limit": "unlimited", "web.name": 'Our "servers" \\', "streams.heartbeat": "60s"}
    texts |= {"listen": "tcp:1 tcp:2", "reuse_port": "true"}
    config = load_config(*(f"{name}={text}" for name, text in texts.items()))
    shown = {setting.name: setting for setting in describe(config)}
    for name, line in values.items():
        section, _, _ = name.rpartition(".")
        assert f"{section}." * bool(section) + shown[name].line == line
        assert config.sources[name] == "--set"
    assert tomllib.loads("\n".join(values.values()))["web"]["name"] == texts["web.name"]
    assert "quota.synchronous" not in config.sources


def test_a_secret_has_no_line() -> None:
    shown = {setting.name: setting for setting in describe(load_config("database=host=db password=hunter2"))}
    assert (shown["database"].value, shown["database"].line) == ("(secret)", "")


@pytest.mark.parametrize(("text", "days"), [("30d", 30), ("30", 30), ("0", 0)])
def test_days_may_have_their_unit(text: str, days: int) -> None:
    assert load_config(f"statistics.queries={text}").of(StatisticsConfig).queries == days


@pytest.mark.parametrize("text", ["12h", "1.5", "d", "-1d"])
def test_days_are_whole(text: str) -> None:
    with pytest.raises(ConfigError, match=r"must be (a whole number of days such as 90 or 90d|at least 0)"):
        load_config(f"statistics.queries={text}")
