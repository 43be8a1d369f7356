"""The configuration: which source wins, and what each mistake is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from directory_server.config import Config, ConfigError, UpstreamConfig, describe, load, setting, settings_tables
from directory_server.config._load import build
from directory_server.config._sources import SourceValue

NAMES = [name for name, _, _ in describe(Config())]


def written(folder: Path, toml: str) -> Path:
    file = folder / "directory.toml"
    file.write_text(toml, encoding="utf-8")
    return file


def configured(*settings: str, file: Path | None = None, **environ: str) -> Config:
    return load(file=file, environ=environ, settings=settings)


def refusal(*settings: str, file: Path | None = None, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        configured(*settings, file=file, **environ)
    return str(caught.value)


def variable(name: str) -> str:
    return "DIRECTORY_SERVER_" + name.replace(".", "__").upper()


def test_nothing_given_is_the_default() -> None:
    config = configured(HOME="/root", PATH="/bin")
    assert config == Config()
    assert config.listen == ("tcp:8080:interface=127.0.0.1",)
    assert config.data_dir == Path("data")
    assert (config.quota.limit, config.quota.synchronous) == (20, "normal")
    assert (config.streams.per_key, config.streams.heartbeat, config.keys.grace) == (16, 15.0, 86400.0)


def test_a_file_gives_every_setting(tmp_path: Path) -> None:
    file = written(
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
    config = configured(file=file)
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


def test_a_file_gives_upstreams_in_their_order(tmp_path: Path) -> None:
    config = configured(file=written(tmp_path, UPSTREAM))
    ours, official = config.upstream
    assert (ours.name, ours.interval, ours.floor, ours.headers) == ("ours", 3600.0, 0.85, ("Authorization: env:TOKEN",))
    assert (official.name, official.interval, official.floor) == ("official", 7200.0, 0.5)
    assert (official.include, official.exclude) == (("com.example/*",), ("*/old",))
    described = {name: value for name, value, _ in describe(config)}
    assert described["upstream.ours.headers"] == "(secret)"
    assert described["upstream.official.url"] == "https://registry.modelcontextprotocol.io"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('name = "a"', "upstream ({}): must each have a url and a name that no other has"),
        ('url = "https://a.example"', "upstream ({}): must each have a url and a name that no other has"),
        (
            'name = "a"\nurl = "/a"\n[[upstream]]\nname = "a"\nurl = "/b"',
            "upstream ({}): must each have a url and a name that no other has",
        ),
        (
            'name = "local"',
            "upstream.name ({}, table 1): must be 1 to 40 of a-z, 0-9, '.', '_' and '-', and not 'local', not 'local'",
        ),
        (
            'url = "ftp://a.example"',
            "upstream.url ({}, table 1): must be an http or https URL without a password, "
            "or the path of a file, not 'ftp://a.example'",
        ),
        (
            'url = "https://me@a.example"',
            "upstream.url ({}, table 1): must be an http or https URL without a password, "
            "or the path of a file, not 'https://me@a.example'",
        ),
        ("interval = 1", "upstream.interval ({}, table 1): must be at least 60, not 1"),
        ("floor = 85", "upstream.floor ({}, table 1): must be from 0 to 1, not 85"),
        (
            'headers = ["Authorization: hunter2"]',
            "upstream.headers ({}, table 1): must be headers such as Authorization: env:TOKEN or file:/path",
        ),
        ('include = [""]', "upstream.include ({}, table 1): must be patterns of names such as com.example/*, not ['']"),
        (
            'uri = "https://a.example"',
            "upstream.uri ({}, table 1): is not a setting; did you mean upstream.url? known settings: upstream.name, "
            "upstream.url, "
            "upstream.interval, upstream.headers, upstream.include, upstream.exclude, upstream.floor, "
            "upstream.official, upstream.max_entries, upstream.max_bytes",
        ),
    ],
)
def test_an_upstream_that_will_not_do(tmp_path: Path, table: str, said: str) -> None:
    file = written(tmp_path, f"[[upstream]]\n{table}\n")
    assert refusal(file=file) == said.format(file)


def test_upstreams_are_tables_of_the_file(tmp_path: Path) -> None:
    refused = "must be tables [[upstream]] of the TOML file"
    assert refusal("upstream=a") == f"upstream (--set): {refused}"
    file = written(tmp_path, '[upstream]\nname = "a"\n')
    assert refusal(file=file).startswith(f"upstream.name ({file}): is not a setting")
    file = written(tmp_path, 'upstream = ["a"]\n')
    assert refusal(file=file) == f"upstream ({file}): {refused}"


def test_a_later_source_wins(tmp_path: Path) -> None:
    file = written(tmp_path, "[streams]\nper_key = 1\nheartbeat = 1.5\n[quota]\nlimit = 1\n[keys]\ngrace = 1\n")
    config = configured(
        "quota.limit=3",
        "quota.limit=4",
        file=file,
        DIRECTORY_SERVER_STREAMS__HEARTBEAT="2.5",
        DIRECTORY_SERVER_QUOTA__LIMIT="2",
    )
    assert (config.keys.grace, config.streams.per_key) == (1.0, 1), "the file, where nothing else speaks"
    assert config.streams.heartbeat == 2.5, "the environment over the file"
    assert config.quota.limit == 4, "the last --set over all"


def test_listen_and_data_dir_win_over_set() -> None:
    config = load(
        file=None,
        environ={"DIRECTORY_SERVER_DATA_DIR": "a"},
        settings=["data_dir=b", "listen=tcp:1"],
        listen=["tcp:2", "tcp:3"],
        data_dir=Path("c"),
    )
    assert (config.data_dir, config.listen) == (Path("c"), ("tcp:2", "tcp:3"))


def test_text_is_read_by_the_type_of_its_setting() -> None:
    config = configured(
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


def test_the_environment_names_the_file_unless_an_option_does(tmp_path: Path) -> None:
    file = written(tmp_path, "[quota]\nlimit = 7\n")
    assert configured(DIRECTORY_SERVER_CONFIG=str(file)).quota.limit == 7
    assert configured(DIRECTORY_SERVER_CONFIG="").quota.limit == 20
    assert configured(file=file, DIRECTORY_SERVER_CONFIG="/nowhere").quota.limit == 7


def test_what_kubernetes_puts_into_the_environment_is_not_ours() -> None:
    links = {
        "DIRECTORY_SERVER_SERVICE_HOST": "10.0.0.1",
        "DIRECTORY_SERVER_SERVICE_PORT": "80",
        "DIRECTORY_SERVER_SERVICE_PORT_HTTP": "80",
        "DIRECTORY_SERVER_PORT": "tcp://10.0.0.1:80",
        "DIRECTORY_SERVER_PORT_80_TCP": "tcp://10.0.0.1:80",
        "DIRECTORY_SERVER_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert load(file=None, environ=links, settings=()) == Config()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("streams.per_key=eight", "streams.per_key (--set): must be a whole number, not 'eight'"),
        ("streams.per_key=-1", "streams.per_key (--set): must be at least 0, not '-1'"),
        ("streams.per_key=", "streams.per_key (--set): must be a whole number, not ''"),
        ("streams.heartbeat=0", "streams.heartbeat (--set): must be above 0, not '0'"),
        ("streams.heartbeat=nan", "streams.heartbeat (--set): must be a number, not 'nan'"),
        ("streams.heartbeat=inf", "streams.heartbeat (--set): must be a number, not 'inf'"),
        ("quota.limit=0", "quota.limit (--set): must be at least 1, not '0'"),
        ("quota.limit=none", "quota.limit (--set): must be a whole number or unlimited, not 'none'"),
        (
            "quota.limit=9223372036854775808",
            "quota.limit (--set): must be a whole number or unlimited, not '9223372036854775808'",
        ),
        ("quota.synchronous=off", "quota.synchronous (--set): must be one of normal, full, not 'off'"),
        ("log.access=yes", "log.access (--set): must be one of text, json, off, not 'yes'"),
        (
            "web.url=directory.example.org",
            "web.url (--set): must be a URL such as https://directory.example.org, without a path, "
            "not 'directory.example.org'",
        ),
        (
            "metrics.listen=9090",
            "metrics.listen (--set): must be an endpoint such as tcp:9090:interface=127.0.0.1, not '9090'",
        ),
        ("data_dir=", "data_dir (--set): must be the path of a directory, not ''"),
        (
            "http.allowed_origins=https://example.org/",
            "http.allowed_origins (--set): must be origins such as https://app.example.org, without path, "
            "not 'https://example.org/'",
        ),
        (
            "http.allowed_hosts=http://x",
            "http.allowed_hosts (--set): must be hosts such as directory.example.org, without scheme or path, "
            "not 'http://x'",
        ),
        (
            "listen=8080",
            "listen (--set): must be one or more endpoints such as tcp:8080 or unix:/run/directory.sock, not '8080'",
        ),
        (
            "listen=",
            "listen (--set): must be one or more endpoints such as tcp:8080 or unix:/run/directory.sock, not ''",
        ),
        ("verbose", "verbose (--set): must be section.key=value"),
        (
            "streams.per_kye=8",
            "streams.per_kye (--set): is not a setting; did you mean streams.per_key? "
            "known settings: streams.per_key, streams.total, streams.heartbeat, streams.rotation, streams.stall, "
            "streams.grace",
        ),
        (
            "colour=red",
            "colour (--set): is not a setting; "
            "known settings: listen, reuse_port, data_dir, http.*, quota.*, streams.*, keys.*, registry.*, log.*, "
            "metrics.*, accounts.*, web.*",
        ),
        ("keys=3", "keys (--set): is a section, not a setting; its settings are keys.grace"),
        (
            "\n=3",
            "'\\n' (--set): is not a setting; "
            "known settings: listen, reuse_port, data_dir, http.*, quota.*, streams.*, keys.*, registry.*, log.*, "
            "metrics.*, accounts.*, web.*",
        ),
    ],
)
def test_a_mistake_is_told(given: str, message: str) -> None:
    assert refusal(given) == message


@pytest.mark.parametrize(
    ("given", "value", "message"),
    [
        (
            "STREAMS__PER_KEY",
            "eight",
            "DIRECTORY_SERVER_STREAMS__PER_KEY (environment): must be a whole number, not 'eight'",
        ),
        (
            "STREAMS_PER_KEY",
            "8",
            "DIRECTORY_SERVER_STREAMS_PER_KEY (environment): is not a setting; "
            "did you mean DIRECTORY_SERVER_STREAMS__PER_KEY? known settings: DIRECTORY_SERVER_LISTEN, "
            "DIRECTORY_SERVER_REUSE_PORT, DIRECTORY_SERVER_DATA_DIR, DIRECTORY_SERVER_HTTP__*, "
            "DIRECTORY_SERVER_QUOTA__*, DIRECTORY_SERVER_STREAMS__*, DIRECTORY_SERVER_KEYS__*, "
            "DIRECTORY_SERVER_REGISTRY__*, DIRECTORY_SERVER_LOG__*, DIRECTORY_SERVER_METRICS__*, "
            "DIRECTORY_SERVER_ACCOUNTS__*, DIRECTORY_SERVER_WEB__*",
        ),
        (
            "keys__grace",
            "8",
            "DIRECTORY_SERVER_keys__grace (environment): is not a setting; did you mean DIRECTORY_SERVER_KEYS__GRACE? "
            "known settings: DIRECTORY_SERVER_LISTEN, DIRECTORY_SERVER_REUSE_PORT, DIRECTORY_SERVER_DATA_DIR, "
            "DIRECTORY_SERVER_HTTP__*, "
            "DIRECTORY_SERVER_QUOTA__*, DIRECTORY_SERVER_STREAMS__*, DIRECTORY_SERVER_KEYS__*, "
            "DIRECTORY_SERVER_REGISTRY__*, DIRECTORY_SERVER_LOG__*, DIRECTORY_SERVER_METRICS__*, "
            "DIRECTORY_SERVER_ACCOUNTS__*, DIRECTORY_SERVER_WEB__*",
        ),
    ],
)
def test_a_mistake_in_the_environment_is_told_by_its_variable(given: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file=None, environ={f"DIRECTORY_SERVER_{given}": value}, settings=())
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('streams.per_key = "8"', "streams.per_key ({file}): must be a whole number, not '8'"),
        ("streams.per_key = true", "streams.per_key ({file}): must be a whole number, not True"),
        ("streams.per_key = 8.0", "streams.per_key ({file}): must be a whole number, not 8.0"),
        (
            f"streams.per_key = 0x{'f' * 5000}",
            "streams.per_key ({file}): must be a whole number, not one of more than 4,300 digits",
        ),
        (
            f"streams.heartbeat = 0x{'f' * 5000}",
            "streams.heartbeat ({file}): must be a number, not one of more than 4,300 digits",
        ),
        ('streams.heartbeat = "8"', "streams.heartbeat ({file}): must be a number, not '8'"),
        ("streams.heartbeat = inf", "streams.heartbeat ({file}): must be a number, not inf"),
        ("listen = 'tcp:80'", "listen ({file}): must be a list of strings, not 'tcp:80'"),
        ("http.allowed_hosts = [1]", "http.allowed_hosts ({file}): must be a list of strings, not [1]"),
        ("data_dir = 1", "data_dir ({file}): must be the path of a directory, not 1"),
        ('data_dir = "a\\u0000"', "data_dir ({file}): must be the path of a directory, not 'a\\x00'"),
        (
            "http = 1",
            "http ({file}): is a section, not a setting; its settings are http.allowed_hosts, http.allowed_origins",
        ),
        (
            "[quota]\nlimits = 1",
            "quota.limits ({file}): is not a setting; did you mean quota.limit? "
            "known settings: quota.limit, quota.synchronous",
        ),
        (
            '"quota.limit" = 1',
            "quota.limit ({file}): is not a setting; did you mean quota.limit? "
            "known settings: listen, reuse_port, data_dir, http.*, quota.*, streams.*, keys.*, registry.*, log.*, "
            "metrics.*, accounts.*, web.*",
        ),
        ("a =", "{file}: must be TOML: Invalid value (at end of document)"),
        (f"a = {'9' * 5000}", "{file}: must be TOML: Exceeds the limit"),
        (f"a = {'[' * 5000}", "{file}: must be TOML: "),
    ],
)
def test_a_mistake_in_the_file_is_told_by_its_path(tmp_path: Path, toml: str, message: str) -> None:
    file = written(tmp_path, toml)
    said = refusal(file=file)
    assert said.startswith(message.format(file=file))
    assert "\n" not in said


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"a = '\xe9'")
    assert refusal(file=latin) == f"{latin}: must be UTF-8; byte 5 is not"
    assert refusal(file=tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    assert refusal(file=Path("/no.toml")) == "/no.toml: cannot be read: No such file or directory"
    assert (
        refusal(DIRECTORY_SERVER_CONFIG="/no.toml")
        == "DIRECTORY_SERVER_CONFIG: /no.toml: cannot be read: No such file or directory"
    )


def test_a_value_that_a_later_source_replaces_is_checked_all_the_same() -> None:
    assert refusal("quota.limit=5", DIRECTORY_SERVER_QUOTA__LIMIT="x").startswith("DIRECTORY_SERVER_QUOTA__LIMIT")


@given(name=st.sampled_from(NAMES), text=st.text() | st.integers().map(str) | st.floats().map(str))
def test_any_text_is_read_or_refused_in_one_line(name: str, text: str) -> None:
    sources: list[tuple[list[str], dict[str, str]]] = [([f"{name}={text}"], {}), ([], {variable(name): text})]
    refused = []
    for settings, environ in sources:
        try:
            load(file=None, environ=environ, settings=settings)
        except ConfigError as error:
            refused.append(str(error))
    assert "".join(refused).isprintable()


@given(name=st.text(), environ=st.dictionaries(st.text(), st.text(), max_size=3))
def test_any_name_is_read_or_refused_in_one_line(name: str, environ: dict[str, str]) -> None:
    ours = {f"DIRECTORY_SERVER_{key}": value for key, value in environ.items() if key != "CONFIG"}
    try:
        load(file=None, environ=ours, settings=[name])
        said = ""
    except ConfigError as error:
        said = str(error)
    assert said.isprintable()


def test_every_setting_is_described() -> None:
    described = {name: (value, doc) for name, value, doc in describe(configured("quota.limit=unlimited"))}
    assert described["listen"] == (
        "tcp:8080:interface=127.0.0.1",
        "Twisted endpoints to listen on, one or more.",
    )
    assert described["quota.limit"][0] == "unlimited"
    assert described["streams.heartbeat"][0] == "15.0"
    for _, doc in described.values():
        assert doc.endswith(".")
        assert "\n" not in doc


def test_what_is_described_can_be_set_again() -> None:
    config = configured("listen=tcp:1 tcp:2", "http.allowed_hosts=a,b", "quota.limit=unlimited", "keys.grace=0.5")
    assert configured(*(f"{name}={value}" for name, value, _ in describe(config))) == config


@frozen
class Mail:
    password: str = setting("", "What opens the mailbox.", secret=True)
    port: int = setting(25, "Where it listens.", secret=True)
    tls: bool = setting(False, "Whether to encrypt.")


@frozen
class Other:
    mail: Mail = Mail()


def test_a_secret_is_never_shown() -> None:
    config = build(Other, [SourceValue(("mail", "password"), "hunter2", "--set", is_text=True)])
    assert config.mail.password == "hunter2"
    assert [value for _, value, _ in describe(config)] == ["(secret)", "(secret)", "false"]
    with pytest.raises(ConfigError) as caught:
        build(Other, [SourceValue(("mail", "port"), "hunter2", "--set", is_text=True)])
    assert str(caught.value) == "mail.port (--set): must be a whole number"


@pytest.mark.parametrize(("text", "truth"), [("true", True), ("false", False)])
def test_a_truth_is_written_true_or_false(text: str, truth: bool) -> None:
    assert build(Other, [SourceValue(("mail", "tls"), text, "--set", is_text=True)]).mail.tls is truth
    with pytest.raises(ConfigError, match=r"mail\.tls \(--set\): must be true or false, not 'yes'"):
        build(Other, [SourceValue(("mail", "tls"), "yes", "--set", is_text=True)])


def test_the_documentation_has_the_generated_tables() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "operations.md").read_text("utf-8")
    begin, end = "<!-- begin: directory-server config --markdown -->\n\n", "\n<!-- end -->"
    assert text.partition(begin)[2].partition(end)[0] == settings_tables()


def test_the_tables_have_every_setting_with_its_type_default_and_variable() -> None:
    tables = settings_tables()
    listed = dict(re.findall(r"^\| `([\w.]+)` \| [^|]+ \| (?:`([^`]*)`)? ?\|", tables, re.MULTILINE))
    settings = {name: value for name, value, _ in [*describe(Config()), *describe(UpstreamConfig(), "upstream.")]}
    assert listed == {name: value.removesuffix(".0") for name, value in settings.items()}
    for name in NAMES:
        assert f"| `{variable(name)}` |" in tables
    assert "| `quota.limit` | whole number ≥ 1 or `unlimited` |" in tables
    assert "| `log.access` | `text`, `json`, `off` |" in tables
