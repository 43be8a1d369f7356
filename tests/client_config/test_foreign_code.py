"""An entry runs only its package: attacks of hostile publishers, and needs of honest ones."""

from __future__ import annotations

from typing import Any

import pytest

from .builders import SECRET, configs, named, only, package, positional, remote, server


def code(way: Any) -> str:
    assert way.unavailable is not None, way.configurations[1].config
    assert (way.inputs, way.configurations, way.warnings) == ((), (), ())
    assert way.note == way.unavailable.message
    return str(way.unavailable.code)


def warnings(way: Any) -> set[str]:
    assert way.unavailable is None, way.note
    return {each.code for each in way.warnings}


def runs(kind: str, *stated: Any, **more: Any) -> dict[str, Any]:
    return package(kind, "a/b:1" if kind == "oci" else "a", runtimeArguments=list(stated), **more)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("other_package", runs("npm", named("-p", "a@npm:evil"))),
        ("other_package", runs("npm", named("--package", "a@git+https://evil.example/a"))),
        ("other_package", runs("npm", named("--package", "a@file:../evil"))),
        ("other_package", runs("npm", positional("a@https://evil.example/a.tgz"))),
        ("other_package", runs("npm", positional("-p"), positional("evil"))),
        ("other_package", runs("npm", positional("evil"))),
        ("option", runs("npm", named("-c", "id"))),
        ("option", runs("npm", named("--registry", "https://evil.example"))),
        ("option", runs("npm", named("--node-options=--require=/tmp/evil"))),
        ("option", runs("npm", positional("--prefix=/tmp"))),
        ("other_package", runs("pypi", named("--from", "a@https://evil.example/a.whl"))),
        ("other_package", runs("pypi", named("--from", "a @ git+https://evil.example"))),
        ("other_package", runs("pypi", named("--from", "evil"))),
        ("other_package", runs("pypi", named("--from", "a[evil]"))),
        ("other_package", runs("pypi", named("--from", "a"), positional("bash"))),
        ("option_value", runs("pypi", named("--python", "/tmp/evil"))),
        ("option_value", runs("pypi", named("-p", "./3.12"))),
        ("option", runs("pypi", named("--with", "evil"))),
        ("option", runs("pypi", named("--index-url", "https://evil.example"))),
        ("option", runs("nuget", named("--source", "https://evil.example"))),
        ("option", runs("oci", named("--entrypoint", "sh"))),
        ("option", runs("oci", named("--privileged"))),
        ("option", runs("oci", named("--env-file", "/home/me/.env"))),
        ("option", runs("oci", named("--cap-add", "ALL"))),
        ("option", runs("oci", named("--device", "/dev/sda"))),
        ("option", runs("oci", named("--pid", "host"))),
        ("option", runs("oci", named("--volumes-from", "other"))),
        ("option_value", runs("oci", named("-u", "0"))),
        ("option_value", runs("oci", named("--user=root"))),
        ("option_value", runs("oci", named("--add-host", "api.example.org:203.0.113.9"))),
        ("option_value", runs("oci", named("--security-opt", "seccomp=unconfined"))),
        ("option_value", runs("oci", named("--name", "--privileged"))),
        ("network", runs("oci", named("--network", "host"))),
        ("network", runs("oci", named("--network=container:db"))),
        ("network", runs("oci", named("--net", "{net}", variables={"net": {"value": "host"}}))),
        ("host_path", runs("oci", named("-v", "/:/host"))),
        ("host_path", runs("oci", named("-v", "/var/run/docker.sock:/var/run/docker.sock"))),
        ("host_path", runs("oci", named("--volume=/etc:/host/etc:ro"))),
        ("host_path", runs("oci", named("-v", "other_volume:/data"))),
        ("host_path", runs("oci", named("-v", "~/.ssh:/keys"))),
        ("host_path", runs("oci", named("-v", "/{x}:/host"))),
        ("host_path", runs("oci", named("-v", "{x}/../..:/host"))),
        ("host_path", runs("oci", named("-v", "{x}:/host", variables={"x": {"value": "/"}}))),
        ("host_path", runs("oci", named("--mount", "type=bind,src=/,dst=/host"))),
        ("host_path", runs("oci", named("--mount", "type=bind,src={x},src=/,dst=/host"))),
        ("undeclared", runs("oci", named("-e", "AWS_SECRET_ACCESS_KEY"))),
        ("variable", runs("oci", named("-e", "LD_PRELOAD=/evil.so"))),
        ("variable", runs("oci", named("-e", "NODE_OPTIONS=--require={x}"))),
    ],
)
def test_options_of_the_runner_that_are_not_allowed(reason: str, said: Any) -> None:
    assert code(only(said)) == reason


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        *(
            ("name", package("npm", each))
            for each in ("--yes", "@a", "a/b", "a@1", "a b", "../a", "_a", ".a", "a/../b")
        ),
        *(
            ("name", package("npm", each))
            for each in ("github:a/b", "a.tgz", "A.TAR.GZ", "@a/b.tar", "http:a", "node_modules")
        ),
        *(("name", package("npm", each)) for each in ("a" * 215, "é", "@-a/b", "")),
        *(
            ("name", package("pypi", each))
            for each in ("a[b]", "a==1", "a@b", "a/b", "-a", "a-", "a.whl", "a.tar.gz", "a.zip")
        ),
        *(("name", package("pypi", each)) for each in ("a.py", "a;b", "git+https", "a b", "a.tar.zst")),
        *(("name", package("nuget", each)) for each in ("A..B", "-A", "A@1", "A/B")),
        *(
            ("name", package("oci", each))
            for each in ("--privileged", "A/b", "a//b", "a/b:", "a/b@sha256:0", "a b", "a/b:-x")
        ),
        *(("name", package("oci", each)) for each in ("http://a.example/b", "a/b:1:2", "a/" + "b" * 300)),
        *(
            ("registry", package("oci", each))
            for each in ("127.0.0.1:5000/a", "169.254.1.1/a", "-a.example/b", "localhost/a")
        ),
        *(("runner", package("npm", each)) for each in ("bash", "node", "npx", "python3", "NPM", "deno")),
        *(
            ("runner", package("pypi", each))
            for each in ("python", "python3.12", "cpython", "PyPy3.10", "uv", "pip", "find")
        ),
        *(
            ("runner", package("oci", each))
            for each in ("python:3", "library/node", "docker.io/library/alpine:3", "bash")
        ),
        *(
            ("version", package(version=each))
            for each in ("latest", "^1.0.0", "1.x", "1", "1.2", "*", ">=1.0.0", "v1.0.0")
        ),
        *(
            ("version", package(version=each))
            for each in ("1.0.0 || 2", "npm:evil", "git+https://evil.example", "file:a")
        ),
        *(
            ("version", package(version=each))
            for each in ("1.0.0-x.tgz", "-1.0.0", "1.0.0-01", "next", "1.0.0\n", "9" * 20 + ".0.0")
        ),
        *(
            ("version", package("pypi", "a", version=each))
            for each in ("latest", ">=1", "1.*", "==1", "1 ; x", "./1", "1,2")
        ),
        *(
            ("version", package("pypi", "a", version=each))
            for each in ("https://evil.example/a.whl", "1@x", "-1", "1" * 101)
        ),
        *(("version", package("nuget", "A", version=each)) for each in ("1.*", "[1.0,2.0)", "latest", "1")),
        *(("version", package("oci", "a/b", version=each)) for each in ("latest", "main", "1@sha256:0", "-1", "1/2")),
        *(
            ("registry", package(registryBaseUrl=each))
            for each in ("https://evil.example", "http://registry.npmjs.org")
        ),
        *(("registry", package(registryBaseUrl=each)) for each in ("https://registry.npmjs.org@evil.example", "x")),
        *(
            ("registry", package(registryBaseUrl=each))
            for each in ("https://registry.npmjs.org:1/", "https://pypi.org")
        ),
        ("registry", package("pypi", "a", registryBaseUrl="https://test.pypi.org")),
        ("registry", package("oci", "docker.io/a/b", registryBaseUrl="https://ghcr.io")),
        ("kind", package("cargo", "a")),
        ("bundle_unverified", package("mcpb", "https://a.example/a.mcpb")),
        ("bundle_unverified", package("mcpb", "https://a.example/a.mcpb", fileSha256="0" * 63)),
        ("bundle", package("mcpb", "https://a.example/a.mcpb", fileSha256="AB" * 32)),
        ("url", package("mcpb", "http://a.example/a.mcpb", fileSha256="0" * 64)),
        ("url", package("mcpb", "https://127.0.0.1/a.mcpb", fileSha256="0" * 64)),
    ],
)
def test_ambiguous_names_and_versions_are_unavailable(reason: str, said: Any) -> None:
    assert code(only(said)) == reason


@pytest.mark.parametrize(
    ("said", "argument"),
    [
        (package("npm", "@scope/JSONStream", version="1.2.3-beta.1+x"), "@scope/JSONStream@1.2.3-beta.1+x"),
        (package("npm", "a"), "a@latest"),
        (package("pypi", "A_b.c", version="1!2.0rc1.post2.dev3+x.y"), "A_b.c@1!2.0rc1.post2.dev3+x.y"),
        (package("pypi", "a", version="0.0.1-beta.9"), "a@0.0.1-beta.9"),
        (package("oci", "Ghcr.io/a/b__c", version="v1.2"), "Ghcr.io/a/b__c:v1.2"),
        (package("oci", "a/b@sha256:" + "0" * 64, version="1.0"), "a/b@sha256:" + "0" * 64),
        (package("nuget", "A.B-c", version="1.2.3.4-beta"), "A.B-c@1.2.3.4-beta"),
    ],
)
def test_names_and_versions_as_the_registries_define_them(said: Any, argument: str) -> None:
    assert argument in server(only(said))["args"]


STEERING = (
    *("PYTHONWARNINGS", "BROWSER", "HOME", "XDG_CONFIG_HOME", "APPDATA", "COMSPEC", "PYTHONUSERBASE", "NODE_OPTIONS"),
    *("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "MY_CERT_PATH", "MYSSLMODE_X", "GIT_SSH_COMMAND"),
    *("BASH_ENV", "CORECLR_PROFILER", "DOTNET_STARTUP_HOOKS", "JAVA_TOOL_OPTIONS", "PERL5OPT", "LD_PRELOAD", "RUBYOPT"),
    *("DYLD_INSERT_LIBRARIES", "NPM_CONFIG_REGISTRY", "npm_config_registry", "UV_INDEX_URL", "PIP_INDEX_URL", "PATH"),
    *("DOCKER_HOST", "HTTPS_PROXY", "all_proxy", "OPENSSL_CONF", "GCONV_PATH", "SSH_ASKPASS", "CHROME_PATH", "ENV"),
    *("_JAVA_OPTIONS", "MY_LIBRARY_PATH", "KUBECONFIG", "PUPPETEER_EXECUTABLE_PATH", "M2_HOME", "GTK_MODULES"),
)


@pytest.mark.parametrize("name", STEERING)
@pytest.mark.parametrize("kind", ["npm", "oci"])
def test_publisher_cannot_set_dangerous_variables(name: str, kind: str) -> None:
    for fixed in ({"value": "x"}, {"default": "x", "isRequired": True}, {"value": "x{y}"}):
        assert code(only(runs(kind, environmentVariables=[{"name": name, **fixed}]))) == "variable"


@pytest.mark.parametrize("name", STEERING)
def test_user_may_enter_a_dangerous_variable_with_a_warning(name: str) -> None:
    for said in (
        {"isRequired": True},
        {"value": "{x}", "variables": {"x": {"default": "/evil", "choices": ["/evil"]}}},
    ):
        way = only(package(environmentVariables=[{"name": name, "choices": ["/evil"], **said}]))
        assert "variable" in warnings(way)
        assert "evil" not in str(way)


def test_one_word_variables_must_be_listed() -> None:
    assert server(only(package(environmentVariables=[{"name": "PORT", "value": "80"}])))["env"] == {"PORT": "80"}
    assert code(only(package(environmentVariables=[{"name": "SOMETHING", "value": "80"}]))) == "variable_unlisted"
    assert "variable" not in warnings(only(package(environmentVariables=[{"name": "TOKEN", "isRequired": True}])))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        *(("PYTHONUNBUFFERED", "1", True), ("PYTHONUNBUFFERED", "/evil", False), ("NODE_ENV", "production", True)),
        *(("NODE_ENV", "../x", False), ("API_URL", "https://a.example", True), ("HOME_ASSISTANT_URL", "x", True)),
        *(("LDAP_URL", "x", True), ("GOOGLE_REGION", "x", True), ("MCP_HTTP_ENDPOINT_PATH", "/mcp", True)),
    ],
)
def test_harmless_variables_may_be_set(name: str, value: str, allowed: bool) -> None:
    way = only(package(environmentVariables=[{"name": name, "value": value}]))
    assert bool(way.configurations) == allowed


@pytest.mark.parametrize(
    ("warning", "stated", "argument"),
    [
        ("host_path", named("-v", "{data}:/data:ro"), "<data>:/data:ro"),
        ("host_path", named("--mount", "type=bind,src={data},dst=/a/b,ro"), "type=bind,src=<data>,dst=/a/b,ro"),
        ("network", named("--network", "{net}"), "<net>"),
        ("user", named("--user", "{uid}:{gid}"), "<uid>:<gid>"),
        ("port", named("-p", "{port}:80"), "<port>:80"),
        ("port", named("-p", "8080:8080"), "8080:8080"),
        ("host_gateway", named("--add-host=host.docker.internal:host-gateway"), "host.docker.internal:host-gateway"),
        ("tag", named("--init"), "--init"),
        ("tag", named("-e", "LOG_LEVEL=debug"), "LOG_LEVEL=debug"),
        ("tag", named("--network", "none"), "none"),
        ("tag", named("-u", "1000:1000"), "1000:1000"),
        ("tag", named("--memory", "512m"), "512m"),
    ],
)
def test_container_options_with_inputs_have_a_warning(warning: str, stated: Any, argument: str) -> None:
    way = only(runs("oci", stated))
    assert warnings(way) == {warning, "tag"}
    arguments = server(way)["args"]
    assert argument in arguments[: arguments.index("a/b:1")]


@pytest.mark.parametrize("option", ["-v", "--network"])
def test_publisher_cannot_suggest_a_host_path_or_network(option: str) -> None:
    said = named(
        option, "{x}:/data" if option == "-v" else "{x}", variables={"x": {"default": "host", "choices": ["host"]}}
    )
    way = only(runs("oci", said))
    [asked] = way.inputs
    assert (asked.default, asked.choices) == ("", ())
    assert configs(way)["VS Code"]["inputs"][0]["type"] == "promptString"
    assert "host" not in server(way)["args"]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        (runs("npm", named("-y"), positional("a@1.2.3"), positional("serve")), ["-y", "a@latest", "serve"]),
        (runs("npm", positional("npx"), positional("-y"), named("-p", "a@latest")), ["-y", "a@latest"]),
        (
            runs("pypi", named("--from", "a==1.0"), positional("a"), named("--x", "y"), version="1.0"),
            ["a@1.0", "--x", "y"],
        ),
        (runs("pypi", named("--python", "3.12"), named("-q")), ["--python", "3.12", "-q", "a"]),
        (
            runs("oci", positional("run"), named("-i"), named("--rm"), positional("a/b:1"), positional("stdio")),
            ["run", "-i", "--rm", "a/b:1", "stdio"],
        ),
        (
            runs("oci", named("-e", isRequired=False), positional("API_KEY"), environmentVariables=[SECRET]),
            ["run", "-i", "--rm", "-e", "API_KEY", "-e", "API_KEY", "a/b:1"],
        ),
        (runs("npm", {"type": "named", "name": "--unknown", "valueHint": "x"}), ["-y", "a@latest"]),
    ],
)
def test_repeated_parts_of_the_command_are_recognised(said: Any, arguments: list[str]) -> None:
    assert server(only(said))["args"] == arguments


@pytest.mark.parametrize("kind", ["npm", "pypi", "oci", "nuget"])
def test_package_arguments_follow_the_package(kind: str) -> None:
    dangerous = [positional("-c"), positional("--registry=https://evil.example"), named("--from", "evil")]
    arguments = server(only(package(kind, "a/b" if kind == "oci" else "a", packageArguments=dangerous)))["args"]
    behind = arguments[next(index for index, each in enumerate(arguments) if each.startswith("a")) + 1 :]
    assert behind == [
        *(["--yes", "--"] if kind == "nuget" else []),
        "-c",
        "--registry=https://evil.example",
        "--from",
        "evil",
    ]


@pytest.mark.parametrize("value", ["a&calc", "a|b", "a>b", "a<b", 'a"b', "a^b"])
def test_batch_file_arguments_have_no_special_characters_of_windows(value: str) -> None:
    choice = {"type": "positional", "isRequired": True, "choices": [value]}
    for said in (positional(value), named("--x", value), named(value), choice):
        assert code(only(package(packageArguments=[said]))) == "shell"
        assert code(only(package("nuget", "A", packageArguments=[said]))) == "shell"
        assert only(package("pypi", "a", packageArguments=[said])).configurations


@pytest.mark.parametrize(
    ("url", "shown", "warned"),
    [
        ("https://a.example/mcp", "https://a.example/mcp", set()),
        ("HTTPS://A.Example:8443/MCP?a=b", "https://a.example:8443/MCP?a=b", set()),
        ("https://gіthub.com/mcp", "https://xn--gthub-n2e.com/mcp", {"international"}),
        ("https://ｇｉｔｈｕｂ.com/mcp", "https://github.com/mcp", {"international"}),
        ("https://xn--gthub-n2e.com/mcp", "https://xn--gthub-n2e.com/mcp", {"international"}),
        ("https://{tenant}.a.example:{port}/{path}", "https://<tenant>.a.example:<port>/<path>", set()),
        ("https://{host}/mcp", "https://<host>/mcp", set()),
        ("http://10.0.0.1/mcp", "http://10.0.0.1/mcp", {"private_address", "unencrypted"}),
        ("https://mcp.corp.internal/", "https://mcp.corp.internal/", {"private_address"}),
        ("https://{x}.local/", "https://<x>.local/", {"private_address"}),
    ],
)
def test_remote_urls_have_an_ascii_host(url: str, shown: str, warned: set[str]) -> None:
    way = only(remotes=[remote(url)])
    assert warnings(way) == warned
    assert way.name == shown == server(way)["url"]


@pytest.mark.parametrize(
    ("reason", "url"),
    [
        *(
            ("address", f"http://{host}/mcp")
            for host in ("127.0.0.1:3000", "localhost", "[::1]", "169.254.169.254", "[fe80::1]")
        ),
        *(
            ("address", f"http://{host}/mcp")
            for host in ("0.0.0.0", "[::ffff:127.0.0.1]", "127.0.0.{x}", "{x}.localhost")
        ),
        *(
            ("url", f"http://{host}/mcp")
            for host in ("2130706433", "0x7f.1", "127.1", "[fe80::1%25eth0]", "a%2eb.example")
        ),
        *(
            ("url", f"https://{host}/mcp")
            for host in ("gіthub.com@a.example", "☃.example", "gіthub-{x}.com", "a.example:0")
        ),
        ("url", "https://a.example\\@evil.example/"),
    ],
)
def test_local_and_invalid_remotes_are_unavailable(reason: str, url: str) -> None:
    assert code(only(remotes=[remote(url)])) == reason


@pytest.mark.parametrize("name", ["Host", "host", "Transfer-Encoding", "Proxy-Authorization", "Mcp-Session-Id", "A B"])
def test_reserved_headers_are_unavailable(name: str) -> None:
    assert code(only(remotes=[remote(headers=[{"name": name, "value": "a"}])])) == "header_name"


def test_reasons_quote_bounded_visible_text() -> None:
    way = only(package("npm", "\u202e\x1b[2J" + "a" * 10_000))
    assert way.unavailable is not None
    assert len(way.unavailable.subject) == 100
    assert way.note.isprintable()
    assert way.name.isprintable()
    assert len(way.name) == 300
