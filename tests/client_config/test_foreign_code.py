"""Packages: runner options, names, versions and variables that publishers may set."""

from __future__ import annotations

from typing import Any

import pytest

from .builders import (
    SECRET,
    configurations,
    installation_of,
    named,
    package,
    positional,
    runner_package,
    server_of,
    unavailable_code,
    warning_codes,
)


@pytest.mark.parametrize(
    ("reason", "value"),
    [
        ("other_package", runner_package("npm", named("-p", "a@npm:evil"))),
        ("other_package", runner_package("npm", named("--package", "a@git+https://evil.example/a"))),
        ("other_package", runner_package("npm", named("--package", "a@file:../evil"))),
        ("other_package", runner_package("npm", positional("a@https://evil.example/a.tgz"))),
        ("other_package", runner_package("npm", positional("-p"), positional("evil"))),
        ("other_package", runner_package("npm", positional("evil"))),
        ("option", runner_package("npm", named("-c", "id"))),
        ("option", runner_package("npm", named("--registry", "https://evil.example"))),
        ("option", runner_package("npm", named("--node-options=--require=/tmp/evil"))),
        ("option", runner_package("npm", positional("--prefix=/tmp"))),
        ("other_package", runner_package("pypi", named("--from", "a@https://evil.example/a.whl"))),
        ("other_package", runner_package("pypi", named("--from", "a @ git+https://evil.example"))),
        ("other_package", runner_package("pypi", named("--from", "evil"))),
        ("other_package", runner_package("pypi", named("--from", "a[evil]"))),
        ("other_package", runner_package("pypi", named("--from", "a"), positional("bash"))),
        ("option_value", runner_package("pypi", named("--python", "/tmp/evil"))),
        ("option_value", runner_package("pypi", named("-p", "./3.12"))),
        ("option", runner_package("pypi", named("--with", "evil"))),
        ("option", runner_package("pypi", named("--index-url", "https://evil.example"))),
        ("option", runner_package("nuget", named("--source", "https://evil.example"))),
        ("option", runner_package("oci", named("--entrypoint", "sh"))),
        ("option", runner_package("oci", named("--privileged"))),
        ("option", runner_package("oci", named("--env-file", "/home/me/.env"))),
        ("option", runner_package("oci", named("--cap-add", "ALL"))),
        ("option", runner_package("oci", named("--device", "/dev/sda"))),
        ("option", runner_package("oci", named("--pid", "host"))),
        ("option", runner_package("oci", named("--volumes-from", "other"))),
        ("option_value", runner_package("oci", named("-u", "0"))),
        ("option_value", runner_package("oci", named("--user=root"))),
        ("option_value", runner_package("oci", named("--add-host", "api.example.org:203.0.113.9"))),
        ("option_value", runner_package("oci", named("--security-opt", "seccomp=unconfined"))),
        ("option_value", runner_package("oci", named("--name", "--privileged"))),
        ("network", runner_package("oci", named("--network", "host"))),
        ("network", runner_package("oci", named("--network=container:db"))),
        ("network", runner_package("oci", named("--net", "{net}", variables={"net": {"value": "host"}}))),
        ("host_path", runner_package("oci", named("-v", "/:/host"))),
        ("host_path", runner_package("oci", named("-v", "/var/run/docker.sock:/var/run/docker.sock"))),
        ("host_path", runner_package("oci", named("--volume=/etc:/host/etc:ro"))),
        ("host_path", runner_package("oci", named("-v", "other_volume:/data"))),
        ("host_path", runner_package("oci", named("-v", "~/.ssh:/keys"))),
        ("host_path", runner_package("oci", named("-v", "/{x}:/host"))),
        ("host_path", runner_package("oci", named("-v", "{x}/../..:/host"))),
        ("host_path", runner_package("oci", named("-v", "{x}:/host", variables={"x": {"value": "/"}}))),
        ("host_path", runner_package("oci", named("--mount", "type=bind,src=/,dst=/host"))),
        ("host_path", runner_package("oci", named("--mount", "type=bind,src={x},src=/,dst=/host"))),
        ("undeclared", runner_package("oci", named("-e", "AWS_SECRET_ACCESS_KEY"))),
        ("variable", runner_package("oci", named("-e", "LD_PRELOAD=/evil.so"))),
        ("variable", runner_package("oci", named("-e", "NODE_OPTIONS=--require={x}"))),
    ],
)
def test_options_of_the_runner_that_are_not_allowed(reason: str, value: Any) -> None:
    assert unavailable_code(installation_of(value)) == reason


@pytest.mark.parametrize(
    ("reason", "value"),
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
def test_ambiguous_names_and_versions_are_unavailable(reason: str, value: Any) -> None:
    assert unavailable_code(installation_of(value)) == reason


@pytest.mark.parametrize(
    ("value", "argument"),
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
def test_names_and_versions_follow_the_rules_of_the_registries(value: Any, argument: str) -> None:
    assert argument in server_of(installation_of(value))["args"]


DANGEROUS_VARIABLES = (
    *("PYTHONWARNINGS", "BROWSER", "HOME", "XDG_CONFIG_HOME", "APPDATA", "COMSPEC", "PYTHONUSERBASE", "NODE_OPTIONS"),
    *("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "MY_CERT_PATH", "MYSSLMODE_X", "GIT_SSH_COMMAND"),
    *("BASH_ENV", "CORECLR_PROFILER", "DOTNET_STARTUP_HOOKS", "JAVA_TOOL_OPTIONS", "PERL5OPT", "LD_PRELOAD", "RUBYOPT"),
    *("DYLD_INSERT_LIBRARIES", "NPM_CONFIG_REGISTRY", "npm_config_registry", "UV_INDEX_URL", "PIP_INDEX_URL", "PATH"),
    *("DOCKER_HOST", "HTTPS_PROXY", "all_proxy", "OPENSSL_CONF", "GCONV_PATH", "SSH_ASKPASS", "CHROME_PATH", "ENV"),
    *("_JAVA_OPTIONS", "MY_LIBRARY_PATH", "KUBECONFIG", "PUPPETEER_EXECUTABLE_PATH", "M2_HOME", "GTK_MODULES"),
    *("FLASK_APP", "DJANGO_SETTINGS_MODULE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "MAGICK_CONFIGURE_PATH"),
    *("CELERY_LOADER", "SPRING_CONFIG_LOCATION", "log4j.configurationFile", "TS_NODE_PROJECT", "GDAL_DRIVER_PATH"),
    *(
        "TORCH_EXTENSIONS_DIR",
        "TF_CLI_CONFIG_FILE",
        "MY_ENTRYPOINT",
        "ACME_RC",
        "X_CONF_DIR",
        "Y_MODULE",
        "A_EXECUTABLES",
    ),
)


@pytest.mark.parametrize("name", DANGEROUS_VARIABLES)
@pytest.mark.parametrize("kind", ["npm", "oci"])
def test_publisher_cannot_set_dangerous_variables(name: str, kind: str) -> None:
    for fixed in ({"value": "x"}, {"default": "x", "isRequired": True}, {"value": "x{y}"}):
        assert (
            unavailable_code(installation_of(runner_package(kind, environmentVariables=[{"name": name, **fixed}])))
            == "variable"
        )


@pytest.mark.parametrize("name", DANGEROUS_VARIABLES)
def test_user_may_enter_a_dangerous_variable_with_a_warning(name: str) -> None:
    for members in (
        {"isRequired": True},
        {"value": "{x}", "variables": {"x": {"default": "/evil", "choices": ["/evil"]}}},
    ):
        installation = installation_of(package(environmentVariables=[{"name": name, "choices": ["/evil"], **members}]))
        assert "variable" in warning_codes(installation)
        assert "evil" not in str(installation)


def test_one_word_variables_must_be_listed() -> None:
    assert server_of(installation_of(package(environmentVariables=[{"name": "PORT", "value": "80"}])))["env"] == {
        "PORT": "80"
    }
    assert (
        unavailable_code(installation_of(package(environmentVariables=[{"name": "SOMETHING", "value": "80"}])))
        == "variable_unlisted"
    )
    assert "variable" not in warning_codes(
        installation_of(package(environmentVariables=[{"name": "TOKEN", "isRequired": True}]))
    )


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        *(("PYTHONUNBUFFERED", "1", True), ("PYTHONUNBUFFERED", "/evil", False), ("NODE_ENV", "production", True)),
        *(("NODE_ENV", "../x", False), ("API_URL", "https://a.example", True), ("HOME_ASSISTANT_URL", "x", True)),
        *(("LDAP_URL", "x", True), ("GOOGLE_REGION", "x", True), ("MCP_HTTP_ENDPOINT_PATH", "/mcp", True)),
    ],
)
def test_harmless_variables_may_be_set(name: str, value: str, allowed: bool) -> None:
    installation = installation_of(package(environmentVariables=[{"name": name, "value": value}]))
    assert bool(installation.configurations) == allowed


@pytest.mark.parametrize(
    ("warning", "runner_argument", "argument"),
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
def test_container_options_with_inputs_have_a_warning(warning: str, runner_argument: Any, argument: str) -> None:
    installation = installation_of(runner_package("oci", runner_argument))
    assert warning_codes(installation) == {warning, "tag"}
    arguments = server_of(installation)["args"]
    assert argument in arguments[: arguments.index("a/b:1")]


@pytest.mark.parametrize("option", ["-v", "--network"])
def test_publisher_cannot_suggest_a_host_path_or_network(option: str) -> None:
    argument = named(
        option, "{x}:/data" if option == "-v" else "{x}", variables={"x": {"default": "host", "choices": ["host"]}}
    )
    installation = installation_of(runner_package("oci", argument))
    [only_input] = installation.inputs
    assert (only_input.default, only_input.choices) == ("", ())
    assert configurations(installation)["VS Code"]["inputs"][0]["type"] == "promptString"
    assert "host" not in server_of(installation)["args"]


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        (runner_package("npm", named("-y"), positional("a@1.2.3"), positional("serve")), ["-y", "a@latest", "serve"]),
        (runner_package("npm", positional("npx"), positional("-y"), named("-p", "a@latest")), ["-y", "a@latest"]),
        (
            runner_package("pypi", named("--from", "a==1.0"), positional("a"), named("--x", "y"), version="1.0"),
            ["a@1.0", "--x", "y"],
        ),
        (runner_package("pypi", named("--python", "3.12"), named("-q")), ["--python", "3.12", "-q", "a"]),
        (
            runner_package(
                "oci", positional("run"), named("-i"), named("--rm"), positional("a/b:1"), positional("stdio")
            ),
            ["run", "-i", "--rm", "a/b:1", "stdio"],
        ),
        (
            runner_package("oci", named("-e", isRequired=False), positional("API_KEY"), environmentVariables=[SECRET]),
            ["run", "-i", "--rm", "-e", "API_KEY", "a/b:1"],
        ),
        (runner_package("npm", {"type": "named", "name": "--unknown", "valueHint": "x"}), ["-y", "a@latest"]),
    ],
)
def test_repeated_parts_of_the_command_are_recognized(value: Any, arguments: list[str]) -> None:
    assert server_of(installation_of(value))["args"] == arguments


@pytest.mark.parametrize("kind", ["npm", "pypi", "oci", "nuget"])
def test_package_arguments_follow_the_package(kind: str) -> None:
    dangerous = [positional("-c"), positional("--registry=https://evil.example"), named("--from", "evil")]
    arguments = server_of(installation_of(package(kind, "a/b" if kind == "oci" else "a", packageArguments=dangerous)))[
        "args"
    ]
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
    for argument in (positional(value), named("--x", value), named(value), choice):
        assert unavailable_code(installation_of(package(packageArguments=[argument]))) == "shell"
        assert unavailable_code(installation_of(package("nuget", "A", packageArguments=[argument]))) == "shell"
        assert installation_of(package("pypi", "a", packageArguments=[argument])).configurations


def test_reasons_quote_bounded_visible_text() -> None:
    installation = installation_of(package("npm", "\u202e\x1b[2J" + "a" * 10_000))
    assert installation.unavailable is not None
    assert len(installation.unavailable.subject) == 100
    assert installation.note.isprintable()
    assert installation.name.isprintable()
    assert len(installation.name) == 300


RUNNERS = {
    "npm": (
        *("supergateway", "mcp-proxy", "@modelcontextprotocol/inspector", "forever", "start-server-and-test", "shx"),
        *("vite-node", "ts-node-dev", "mocha", "nps"),
    ),
    "pypi": (
        *("mcp-proxy", "MCP_Proxy", "mcp.proxy", "mcpo", "honcho", "python-dotenv", "streamlit", "marimo", "fastmcp"),
        *("bpython", "debugpy", "viztracer", "coverage", "gunicorn", "py-spy"),
    ),
    "nuget": ("dotnet-exec", "CSharpRepl", "Husky"),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in RUNNERS.items() for name in names])
def test_known_packages_that_run_their_arguments_are_unavailable(kind: str, name: str) -> None:
    assert unavailable_code(installation_of(package(kind, name))) == "runner"


@pytest.mark.parametrize(
    "arguments",
    [
        [named("--stdio", "touch F")],
        [named("--stdio=touch F")],
        [positional("touch"), positional("F")],
        *([positional(word), positional("stdio")] for word in ("--", "-c", "-e", "-m", "-r", "run", "exec", "x")),
        *([positional(word)] for word in ("npx", "bash", "https://evil.example/x.py", "git+https://evil.example")),
        *([positional(word)] for word in ("evil@1.0.0", "./evil", "/bin/sh", "-cid", "import os", "@a/evil", "C:\\x")),
        [named("--require", "evil")],
        [positional("{x}evil")],
        [{"type": "positional", "default": "touch"}],
        [positional("{x}") | {"variables": {"x": {"default": "touch F"}}}],
    ],
)
@pytest.mark.parametrize(("kind", "name"), [("npm", "unknown"), ("pypi", "unknown"), ("oci", "a/unknown:1")])
def test_arguments_that_may_be_code_have_a_warning_for_any_package(kind: str, name: str, arguments: Any) -> None:
    assert "arguments" in warning_codes(installation_of(package(kind, name, packageArguments=arguments)))


@pytest.mark.parametrize(
    "arguments",
    [
        [named("--transport", "stdio")],
        [named("--transport=streamable-http"), named("--host", "127.0.0.1"), named("--port=8000")],
        [positional("mcp"), positional("start")],
        [named("--stdio")],
        [named("-v"), positional("-1"), named("--limit", "2.5")],
        [named("--api-key", "{key}"), positional("{path}")],
        [{"type": "positional", "valueHint": "path", "isRequired": True}],
    ],
)
def test_plain_arguments_have_no_warning(arguments: Any) -> None:
    assert warning_codes(installation_of(package(version="1.0.0", packageArguments=arguments))) == set()


CODE_VARIABLES = (
    *("SHARP_DIST_BASE_URL", "SASS_BINARY_SITE", "SENTRYCLI_CDNURL", "PRISMA_ENGINES_MIRROR", "ESBUILD_BINARY_PATH"),
    *("SWC_BINARY_PATH", "TS_NODE_COMPILER", "PRISMA_QUERY_ENGINE_LIBRARY", "ORT_DYLIB_PATH", "TRITON_LIBCUDA_PATH"),
    *("ASPNETCORE_HOSTINGSTARTUPASSEMBLIES", "APPDOMAIN_MANAGER_ASM", "__PYVENV_LAUNCHER__", "SPARK_SUBMIT_OPTS"),
    *("A_BINARY_HOST", "A_DOWNLOAD_URL", "A_INDEX_URL", "A_PLUGINS", "A_PRELOAD", "A_LOADER", "a.startup.class"),
)


@pytest.mark.parametrize("name", CODE_VARIABLES)
def test_publisher_cannot_set_variables_that_load_code_by_their_form(name: str) -> None:
    value = package(environmentVariables=[{"name": name, "value": "x"}])
    assert unavailable_code(installation_of(value)) == "variable"


HOSTS = [
    *((name, "https://evil.example/v1", "evil.example") for name in ("GITLAB_API_URL", "OPENAI_BASE_URL")),
    *((name, "https://evil.example", "evil.example") for name in ("ANTHROPIC_BASE_URL", "AWS_ENDPOINT_URL")),
    *((name, "https://evil.example", "evil.example") for name in ("GITHUB_API_URL", "HF_ENDPOINT")),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://evil.example:4318", "evil.example"),
    ("ANY_NAME", "evil.example", "evil.example"),
    ("ANY_NAME", "evil.example:443", "evil.example"),
    ("ANY_NAME", "http:evil.example", "evil.example"),
    ("ANY_NAME", "//evil.example/x", "evil.example"),
    # Shares of Windows, whose host serves the file to whoever reads the path.
    *(
        ("ANY_NAME", path, "evil")
        for path in (
            *(r"\\evil\x.py", "//evil/x.py", r"/\evil\x", r"\/evil/x", r"\\?\UNC\evil\x", "//./unc/evil/x"),
            *(r"--load=\\evil\x", r"-I\\evil\x", r"@\\evil\x", r"a;\\evil\x", r"(\\evil\x)", r"data:\\evil\x"),
            *("file://evil/x", r"file:\\evil\x", "file:////evil/x", r"\\evil\c$\x {x}"),
        )
    ),
    ("ANY_NAME", r"\\evil@SSL\DavWWWRoot\x", "evil@SSL"),
    ("ANY_NAME", r"\\10.0.0.5\x", "10.0.0.5"),
    ("ANY_NAME", r"\\localhost\c$\x", "localhost"),
    ("ANY_NAME", r"\\a{x}\y", "a…"),
    ("ANY_NAME", "x=1;Server=tcp:evil.example,1433", "evil.example"),
    ("ANY_NAME", "postgres://u:p@evil.example/x", "evil.example"),
    ("ANY_NAME", "http://localhost@evil.example/", "evil.example"),
    ("ANY_NAME", "http:\\\\evil.example", "evil.example"),
    ("ANY_NAME", "https://{x}.evil.example/", "….evil.example"),
    ("ANY_NAME", "evil.example{x}", "evil.example…"),
    ("ANY_NAME", "{x}://evil.example", "evil.example"),
    ("ANY_NAME", "8.8.8.8", "8.8.8.8"),
    ("ANY_NAME", "http://0x08.8/", "0x08.8"),
    ("ANY_NAME", "http://134744072/", "134744072"),
    ("ANY_NAME", "https://gіthub.com", "xn--gthub-n2e.com"),
    ("ANY_NAME", "evil。example", "evil.example"),
    ("ANY_NAME", "https://api.github.com." + "a." * 50 + "evil.example", "…" + ("a." * 50 + "evil.example")[-60:]),
]


@pytest.mark.parametrize(("name", "value", "host"), HOSTS)
def test_a_fixed_host_has_a_warning_with_its_name(name: str, value: str, host: str) -> None:
    variable = {"name": name, "value": value}
    in_argument = [named("--url", value)]
    runtime = runner_package("oci", named("-e", f"{name}={value}"), environmentVariables=[SECRET])
    for source in (
        package(environmentVariables=[SECRET, variable]),
        package("oci", "a/b:1", environmentVariables=[SECRET, variable]),
        package(environmentVariables=[SECRET], packageArguments=in_argument),
        runtime,
    ):
        installation = installation_of(source)
        assert [each.subject for each in installation.warnings if each.code == "fixed_host"] == [host]
        assert f"secrets included, to {host}," in str(installation.warnings)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "http://localhost:8000/x",
            "127.0.0.1",
            "0.0.0.0:80",
            "http://[::1]/",
            "host.docker.internal:11434",
            "redis:1",
        ),
        *("{url}", "https://{host}/api", "https://{host}:{port}", "v3.1.0", "rerank-2.5", "config.json", "/a/b.c"),
        "~/a.b",
        *("./a.py", "C:/Users/a.b/c", "@a/b v1.2", "a_b", "1.2.3", "en_US.UTF-8"),
        *(r"C:\Users\a", r"C:\\Users\\a\\x", "/data//x", "a//b", r"\\?\C:\x", "file:///home/x", "file:///C:/x"),
        *("postgres://localhost/db", "redis://redis:6379", "https://localhost/a//b", "//", r"\\{host}\x", "// x"),
    ],
)
def test_other_values_have_no_warning_about_a_host(value: str) -> None:
    installation = installation_of(package(environmentVariables=[SECRET, {"name": "ANY_NAME", "value": value}]))
    assert "fixed_host" not in warning_codes(installation)


def test_the_number_of_hosts_is_bounded() -> None:
    def source(count: int) -> Any:
        value = ",".join(f"{number}.example.org" for number in range(count))
        return package(environmentVariables=[{"name": "ANY_NAME", "value": value}])

    assert len(installation_of(source(5)).warnings) == 5 + 1
    assert unavailable_code(installation_of(source(6))) == "hosts"
