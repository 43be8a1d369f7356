"""Environment variables that an entry may set to a fixed value."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ._data import words
from ._notices import Unusable

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}")

_HARMLESS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(form, re.IGNORECASE)
    for name, form in {
        "DOTNET_CLI_TELEMETRY_OPTOUT": "1|true",
        "DOTNET_NOLOGO": "1|true",
        "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1|true",
        "NODE_ENV": "[a-z]{1,20}",
        "NODE_NO_WARNINGS": "[01]",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-?8(:[a-z]{1,20})?",
        "PYTHONUNBUFFERED": "[01]|true",
        "PYTHONUTF8": "[01]",
        "RUST_LOG": "[a-z0-9_:=,]{1,60}",
    }.items()
}
"""Exceptions from the patterns below: variables that change neither code nor trust, with their allowed values."""

_SINGLE, _SYSTEM = words("single_variables"), words("system_variables")

_FAMILIES = re.compile(
    # Interpreters, package managers and their runners.
    r"_?(?:PYTHON|PYENV|PIP|UV|UVX|CONDA|MAMBA|VIRTUAL|POETRY|PDM|HATCH|NODE|NPM|NVM|FNM|VOLTA|PNPM|YARN|BUN|DENO|TSX"
    r"|COREPACK|DOTNET|CORECLR|COR|COMPLUS|NUGET|MSBUILD|VSTEST|JAVA|JDK|JRE|JVM|MAVEN|GRADLE|PERL[0-9A-Z]*|RUBY|RUBYGEMS"
    r"|GEM|BUNDLE|BUNDLER|RBENV|PHP|COMPOSER|LUA|GO|CARGO|RUST|RUSTUP|RUSTC|JULIA|ERL|ELIXIR|MIX|R|GUILE|TCL|OCAML"
    # Loaders, allocators and debuggers.
    r"|LD|DYLD|GLIBC|MALLOC|GCONV|LIBC|LSAN|ASAN|MSAN|TSAN|UBSAN|MONO|WINE|ETW|CUDA_INJECTION|NVBIT"
    # Shells, the system and its directories.
    r"|BASH|ZSH|KSH|SHELL|PS[0-9]?|PSMODULE|POWERSHELL|PROMPT|COMSPEC|XDG|APPDATA|LOCALAPPDATA|PROGRAM[A-Z0-9]*"
    r"|COMMONPROGRAM[A-Z0-9]*|ALLUSERSPROFILE|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE|PATHEXT|TMPDIR|TEMP|TMP"
    r"|LC|NLSPATH|TERM|TERMINFO|TERMCAP|DISPLAY|WAYLAND|DBUS|SUDO|PAM|KRB5[A-Z0-9]*|GNUPG|GPG|GIO|GTK|GDK|QT"
    r"|QML[0-9A-Z]*|GST|ALSA|PULSE|VK|MESA|LIBGL|EGL|FONTCONFIG|NSS|P11|OPENSC|SASL|RES|HOSTALIASES|LOCALDOMAIN"
    # Programs that are started by others.
    r"|EDITOR|VISUAL|PAGER|LESS[A-Z]*|MAN|GIT|HG|SVN|CVS|RSYNC|DOCKER|BUILDKIT|BUILDX|COMPOSE"
    r"|CONTAINER|CONTAINERS|CONTAINERD|PODMAN|MOBY|KUBE[A-Z]*|HELM|ELECTRON"
    # Frameworks and programs that load code which a variable names.
    r"|FLASK|WERKZEUG|DJANGO|CELERY|GUNICORN|UVICORN|STREAMLIT|GRADIO|IPYTHON|JUPYTER|PYTEST|AIRFLOW|TORCH|KERAS|GDAL"
    r"|SPRING|LOG4J|LOGBACK|HADOOP|SPARK|RAILS|RACK|TS|BABEL|ANSIBLE|TF|TERRAFORM|PULUMI|CMAKE|MAGICK|VIM"
    # TLS and HTTP clients.
    r"|SSL[A-Z]*|TLS|OPENSSL|GNUTLS|CURL|WGET|WGETRC|REQUESTS|HTTPX|HTTPLIB2|GRPC|AIOHTTP)(?:_.*|[0-9]*)"
    r"|SSH_(?:ASKPASS|AUTH_SOCK|AGENT|SK_PROVIDER|CONFIG|COMMAND|OPTIONS?).*"
    r"|(?:BROWSER|CHROME|CHROMIUM|PUPPETEER|PLAYWRIGHT|SELENIUM)_.*(?:PATH|BIN|EXEC|ARGS|FLAGS|OPTIONS|DOWNLOAD|HOST).*"
    r"|PYTHON.*|PERL.*|RUBY.*|JAVA.*|(?:GO|NODE|CLASS|CD|INFO|MAN|PKG|C|CPLUS|LOC|FIG)_?PATH"
)
"""Patterns by the beginning of a name in upper case."""

_PARTS = re.compile(
    r"SSL|CERT|(?:^|_)(?:CA|CABUNDLE|CAFILE|CAPATH|TLS|TRUST|TRUSTSTORE|KEYSTORE|PROFILER|RUSTFLAGS)(?:_|$)"
    r"|(?:^|_)(?:HOME|BROWSER|EDITOR|SHELL|HOOKS?|INTERPRETER|EXECUTABLE|PYTHON|COMMAND|CMD)(?:_PATH)?$"
    r"|PROXY(?:_(?:URL|URI|HOST|PORT|SERVER|ADDRESS|USER|PASSWORD|PAC))?$|PROXIES$"
    r"|(?:^|_)(?:LIBRARY|LIB|MODULE|MODULES|PLUGIN|PLUGINS|EXTENSION|EXTENSIONS|BIN|INCLUDE|CLASS|SCRIPT)_?(?:PATHS?|DIRS?)$"
    # Code and where it comes from, whatever program reads the variable.
    r"|BINAR(?:Y|IES)|DYLIB|STARTUP|LAUNCHER|ASSEMBL(?:Y|IES)|MIRROR|PRELOAD|(?:^|_)CDN|CDN_?(?:URL|HOST|BASE|SITE)"
    r"|(?:^|_)(?:ASM|DLL|EXE|COMPILER|LOADER|LIBRARY|LIBRARIES|DIST|IMPORTS?|REQUIRE|PLUGINS?|ADDONS?)(?:_|$)"
    r"|(?:^|_)(?:MODULES?|RC|RCFILE|INI|EXECUTABLES|ENTRY_?POINT|(?:CONF|CONFIG|CONFIGURE|CONFIGURATION|CREDENTIALS)_?(?:FILES?|PATHS?|DIRS?))$"
    r"|(?:^|_)LIB[A-Z0-9]*_(?:PATH|DIR|FILE)$|DOWNLOAD_?(?:URL|URI|HOST|BASE|SITE|SERVER)|INDEX_URL$"
    r"|(?:^|_)[A-Z0-9]*(?:OPTS|ARGS|OPTIONS|FLAGS)$"
)
"""Patterns by a part of a name: TLS, trust, proxies, home directories, programs, libraries and sources of code."""


def is_sensitive(name: str) -> bool:
    """Return whether a variable can change which code runs, which servers are trusted or where files are stored."""
    if name in _HARMLESS:
        return False
    upper = _upper(name)
    return upper in _SYSTEM or bool(_FAMILIES.fullmatch(upper) or _PARTS.search(upper))


def check_fixed(name: str, value: str) -> None:
    """Raise Unusable if an entry may not set the variable `name` to `value`."""
    if (form := _HARMLESS.get(name)) and form.fullmatch(value):
        return
    if form or is_sensitive(name):
        raise Unusable("variable", name)
    upper = _upper(name)
    if "_" not in upper.strip("_") and upper not in _SINGLE:
        raise Unusable("variable_unlisted", name)


def _upper(name: str) -> str:
    # Names are case-insensitive on Windows, and some programs treat other separators like "_".
    return name.upper().replace(".", "_").replace("-", "_")
