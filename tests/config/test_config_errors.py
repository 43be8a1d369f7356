"""Messages about invalid settings, by source."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.config import ConfigError, load
from directory_server.config.units import DURATION, SIZE
from directory_server.features import sections

from ._sources import NAMES, error_message, variable, write_toml

KERNEL = [
    *("listen", "reuse_port", "data_dir", "database", "database_connections", "index_dir", "http.*"),
    *("quota.*", "streams.*", "keys.*", "registry.*", "mcp.*", "log.*", "metrics.*", "accounts.*", "web.*", "upstream"),
]
"""Settings and sections without those of features, in the order of the configuration."""

# The section sign_in has tables only, which no option can set.
KNOWN = ", ".join([*KERNEL, *(f"{name}.*" for name in sections() if name != "sign_in")])

IN_A_FILE = ", ".join([*KERNEL, *(f"{name}.*" for name in sections())])

KNOWN_VARIABLES = ", ".join(map(variable, KERNEL))

OF_URL = "must be an http or https URL without a password, or the path of a file"

UNIQUE = "must each have a url and a name that no other has"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        *(
            (table, f"upstream ({{}}): {UNIQUE}")
            for table in (
                'name = "a"',
                'url = "https://a.example"',
                'name = "a"\nurl = "/a"\n[[upstream]]\nname = "a"\nurl = "/b"',
            )
        ),
        *(
            (
                f'name = "{name}"',
                "upstream.name ({}, table 1): must be 1 to 40 of a-z, 0-9, '.', '_' and '-', and not 'local', "
                f"'published' or 'imported', not '{name}'",
            )
            for name in ("local", "imported")
        ),
        *(
            (f'url = "{url}"', f"upstream.url ({{}}, table 1): {OF_URL}, not '{url}'")
            for url in ("ftp://a.example", "https://me@a.example")
        ),
        ("interval = 1", "upstream.interval ({}, table 1): must be at least 1m, not 1"),
        ("floor = 85", "upstream.floor ({}, table 1): must be from 0 to 1, not 85"),
        (
            'headers = ["Authorization: hunter2"]',
            "upstream.headers ({}, table 1): must be headers such as Authorization: env:TOKEN or file:/path",
        ),
        ('include = [""]', "upstream.include ({}, table 1): must be patterns of names such as com.example/*, not ['']"),
        (
            'uri = "https://a.example"',
            "upstream.uri ({}, table 1): is not a setting; did you mean upstream.url? known settings: upstream.name, "
            "upstream.url, upstream.kind, upstream.publishers, upstream.allowed_networks, "
            "upstream.interval, upstream.start, upstream.headers, upstream.include, upstream.exclude, upstream.floor, "
            "upstream.official, upstream.versions, upstream.max_entries, upstream.max_bytes",
        ),
    ],
)
def test_invalid_upstream_is_reported(tmp_path: Path, table: str, message: str) -> None:
    file = write_toml(tmp_path, f"[[upstream]]\n{table}\n")
    assert error_message(file=file) == message.format(file)


def test_a_removed_setting_says_what_to_do(tmp_path: Path) -> None:
    advice = "is not a setting any more; run a process for each core, all with reuse_port"
    file = write_toml(tmp_path, "processes = 2\n")
    assert error_message(file=file).startswith(f"processes ({file}): {advice}")
    assert error_message("processes=2").startswith(f"processes (--set): {advice}")
    assert error_message(DIRECTORY_SERVER_PROCESSES="1").startswith(
        f"DIRECTORY_SERVER_PROCESSES (environment): {advice}"
    )


def test_upstreams_must_be_tables_of_the_file(tmp_path: Path) -> None:
    rule = "must be tables [[upstream]] of the TOML file"
    file = write_toml(tmp_path, '[upstream]\nname = "a"\n')
    assert error_message(file=file).startswith(f"upstream.name ({file}): is not a setting")
    file = write_toml(tmp_path, 'upstream = ["a"]\n')
    assert error_message(file=file) == f"upstream ({file}): {rule}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "upstream=official ftp://a.example",
            "upstream (--set): each must be an http or https URL without a password, or the path of a file, or "
            "official; separate them with spaces",
        ),
        (
            "upstream=https://a.example/one https://a.example/two",
            "upstream (--set): must each have a url and a name that no other has",
        ),
        ("streams.per_key=eight", "streams.per_key (--set): must be a whole number, not 'eight'"),
        ("streams.per_key=-1", "streams.per_key (--set): must be at least 0, not '-1'"),
        ("streams.per_key=", "streams.per_key (--set): must be a whole number, not ''"),
        ("streams.heartbeat=0", "streams.heartbeat (--set): must be above 0, not '0'"),
        ("streams.heartbeat=nan", f"streams.heartbeat (--set): {DURATION}, not 'nan'"),
        ("streams.heartbeat=inf", f"streams.heartbeat (--set): {DURATION}, not 'inf'"),
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
        (
            "verify.contact=me",
            "verify.contact (--set): must be an e-mail address or a URL such as https://directory.example.org/about, "
            "not 'me'",
        ),
        (
            "verify.contact=me@example.org\r\nX-Other: a",
            "verify.contact (--set): must be an e-mail address or a URL such as https://directory.example.org/about, "
            "not 'me@example.org\\r\\nX-Other: a'",
        ),
        (
            "verify.allowed_networks=10.0.0.0/8,intranet",
            "verify.allowed_networks (--set): must be addresses or networks such as 10.0.0.0/8 or fd00::/8, "
            "not '10.0.0.0/8,intranet'",
        ),
        ("verify.per_minute=0", "verify.per_minute (--set): must be at least 1, not '0'"),
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
        *(
            (f"{name}={listen}", f"{name} (--set): must have a port from 0 to 65535, as in tcp:8080, not '{listen}'")
            for name in ("listen", "metrics.listen")
            for listen in ("tcp:abc:interface=127.0.0.1", "tcp6:99999", "tls:/etc/keys:port=-1", "haproxy:tcp:65536")
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
            f"colour (--set): is not a setting; known settings: {KNOWN}",
        ),
        ("keys=3", "keys (--set): is a section, not a setting; its settings are keys.grace, keys.last_use"),
        (
            "\n=3",
            f"'\\n' (--set): is not a setting; known settings: {KNOWN}",
        ),
    ],
)
def test_invalid_set_option_is_reported(text: str, message: str) -> None:
    assert error_message(text) == message


@pytest.mark.parametrize(
    ("text", "value", "message"),
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
            f"did you mean DIRECTORY_SERVER_STREAMS__PER_KEY? known settings: {KNOWN_VARIABLES}",
        ),
        (
            "keys__grace",
            "8",
            "DIRECTORY_SERVER_keys__grace (environment): is not a setting; did you mean DIRECTORY_SERVER_KEYS__GRACE? "
            f"known settings: {KNOWN_VARIABLES}",
        ),
    ],
)
def test_invalid_variable_is_reported_with_its_name(text: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file=None, environ={f"DIRECTORY_SERVER_{text}": value}, settings=())
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
            f"streams.heartbeat ({{file}}): {DURATION}, not one of more than 4,300 digits",
        ),
        ('streams.heartbeat = "8 days"', f"streams.heartbeat ({{file}}): {DURATION}, not '8 days'"),
        ("streams.heartbeat = true", f"streams.heartbeat ({{file}}): {DURATION}, not True"),
        ('http.queued = "64 MBit"', f"http.queued ({{file}}): {SIZE}, not '64 MBit'"),
        ("http.queued = 6.4", f"http.queued ({{file}}): {SIZE}, not 6.4"),
        ('http.queued = "1kB"', "http.queued ({file}): must be at least 1MB, not '1kB'"),
        ('http.queued = "9999999999GB"', f"http.queued ({{file}}): {SIZE}, not '9999999999GB'"),
        ("streams.heartbeat = inf", f"streams.heartbeat ({{file}}): {DURATION}, not inf"),
        ("listen = 80", "listen ({file}): must be a string or a list of strings, not 80"),
        ("http.allowed_hosts = [1]", "http.allowed_hosts ({file}): must be a string or a list of strings, not [1]"),
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
            f"quota.limit ({{file}}): is not a setting; did you mean quota.limit? known settings: {IN_A_FILE}",
        ),
        ("a =", "{file}: must be TOML: Invalid value (at end of document)"),
        (f"a = {'9' * 5000}", "{file}: must be TOML: Exceeds the limit"),
        (f"a = {'[' * 5000}", "{file}: must be TOML: "),
    ],
)
def test_invalid_setting_in_the_file_is_reported_with_its_path(tmp_path: Path, toml: str, message: str) -> None:
    file = write_toml(tmp_path, toml)
    reported = error_message(file=file)
    assert reported.startswith(message.format(file=file))
    assert "\n" not in reported


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"a = '\xe9'")
    assert error_message(file=latin) == f"{latin}: must be UTF-8; byte 5 is not"
    assert error_message(file=tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    assert error_message(file=Path("/no.toml")) == "/no.toml: cannot be read: No such file or directory"
    assert (
        error_message(DIRECTORY_SERVER_CONFIG="/no.toml")
        == "DIRECTORY_SERVER_CONFIG: /no.toml: cannot be read: No such file or directory"
    )


def test_each_invalid_setting_has_a_line(tmp_path: Path) -> None:
    file = write_toml(tmp_path, '[quota]\nlimit = "many"\n[web]\nsearch = "everyone"\nserch = "public"\n')
    lines = error_message("log.access=xml", file=file).split("\n")
    assert [line.partition(":")[0] for line in lines] == [
        f"quota.limit ({file})",
        f"web.search ({file})",
        f"web.serch ({file})",
        "log.access (--set)",
    ]
    assert len(error_message(*(f"a{number}.b=1" for number in range(50))).split("\n")) == 10


def test_overridden_value_is_validated_too() -> None:
    assert error_message("quota.limit=5", DIRECTORY_SERVER_QUOTA__LIMIT="x").startswith("DIRECTORY_SERVER_QUOTA__LIMIT")


@given(name=st.sampled_from(NAMES), text=st.text() | st.integers().map(str) | st.floats().map(str))
def test_any_text_is_accepted_or_reported_in_one_line(name: str, text: str) -> None:
    sources: list[tuple[list[str], dict[str, str]]] = [([f"{name}={text}"], {}), ([], {variable(name): text})]
    messages = []
    for settings, environ in sources:
        try:
            load(file=None, environ=environ, settings=settings)
        except ConfigError as error:
            messages.append(str(error))
    assert "".join(messages).isprintable()


@given(name=st.text(), environ=st.dictionaries(st.text(), st.text(), max_size=3))
def test_any_name_is_accepted_or_reported_in_a_line_each(name: str, environ: dict[str, str]) -> None:
    ours = {f"DIRECTORY_SERVER_{key}": value for key, value in environ.items() if key != "CONFIG"}
    try:
        load(file=None, environ=ours, settings=[name])
        message = ""
    except ConfigError as error:
        message = str(error)
    assert len(message.split("\n")) <= len(ours) + 1
    assert all(line.isprintable() for line in message.split("\n"))
