"""Perform the steps of the Containerfile without a container engine: python -m tests.deploy.container FOLDER.

Each stage is an overlay of this machine's own file system, with the Python that runs this script as `python`; so the
base image is not tested. Needs root, Linux and the network. Run it in a mount namespace of its own: unshare --mount.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from attrs import define, field

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "Containerfile"
PYTHON = Path(os.path.realpath(sys.executable))

_PASSED = ("pip_", "ssl_", "http_proxy", "https_proxy", "no_proxy")


@define
class Stage:
    """A stage: its instructions, each a name and the text after it."""

    name: str
    instructions: list[tuple[str, str]] = field(factory=list)


def stages() -> list[Stage]:
    """Return the stages of the Containerfile."""
    text = re.sub(r"\\\n\s*", "", CONTAINERFILE.read_text("utf-8"))
    found: list[Stage] = []
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            _, _, alias = rest.partition(" AS ")
            found.append(Stage(alias or "final"))
        elif name.isupper() and found:
            found[-1].instructions.append((name, rest.strip()))
    return found


def context() -> Iterator[Path]:
    """Yield the files of the checkout that .dockerignore lets into the image, relative to the checkout."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [each for each in folders if each not in (".git", ".venv", "node_modules")]
        for name in files:
            path = Path(folder, name).relative_to(ROOT)
            if not _is_ignored(path, patterns):
                yield path


def _is_ignored(path: Path, patterns: list[str]) -> bool:
    """Return whether the last of the patterns that match a path or a folder of it excludes it."""
    ignored = False
    for pattern in patterns:
        text = pattern.removeprefix("!")
        parts = [*path.parents, path]
        if text.startswith("**/"):
            matches = any(fnmatch(each.name, text[3:]) for each in parts)
        else:
            matches = any(fnmatch(str(each), text) for each in parts if str(each) != ".")
        if matches:
            ignored = not pattern.startswith("!")
    return ignored


class Container:
    """A root file system in `folder`, an overlay of this machine's."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.directory = "/"
        # Those of a proxy or a package index, as an engine passes them on.
        self.variables = {name: text for name, text in os.environ.items() if name.lower().startswith(_PASSED)}
        self.variables |= {"PATH": f"{PYTHON.parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp"}
        for name in ("upper", "work", "root"):
            (folder / name).mkdir(parents=True)
        options = f"lowerdir=/,upperdir={folder}/upper,workdir={folder}/work"
        _run("mount", "-t", "overlay", "overlay", "-o", options, str(self.root))
        for name in ("proc", "dev"):
            _run("mount", "--rbind", f"/{name}", f"{self.root}/{name}")
        # The Python of the image, which others than root may run.
        for parent in PYTHON.parents[:-1]:
            (self.root / parent.relative_to("/")).chmod(0o755)

    def run(self, command: str, variables: Mapping[str, str] | None = None) -> None:
        """Run a shell command as root. Raises CalledProcessError."""
        script = f"cd {self.directory} && {command}"
        _run("/usr/sbin/chroot", str(self.root), "/bin/sh", "-c", script, env=variables or self.variables)

    def copy(self, source: Path, target: str) -> None:
        """Copy a file or folder of another root file system; a `target` that ends in / is a folder."""
        to = self.root / (Path(self.directory) / target).relative_to("/")
        if target.endswith("/"):
            to = to / source.name
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy(source, to)


def build(folder: Path) -> Container:
    """Perform the steps of all stages in `folder`; return the container of the last one. Raises CalledProcessError."""
    built: dict[str, Container] = {}
    for stage in stages():
        container = built[stage.name] = Container(folder / stage.name)
        for name, text in stage.instructions:
            print(f"{stage.name}: {name} {text}", flush=True)
            if name == "RUN":
                container.run(text)
            elif name == "WORKDIR":
                container.directory = text
                (container.root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif name == "ENV":
                container.variables |= dict(pair.split("=", 1) for pair in text.split())
            elif name == "COPY":
                _copy(container, text, built)
    return container


def _copy(container: Container, text: str, built: Mapping[str, Container]) -> None:
    words = text.split()
    if words[0].startswith("--from="):
        origin = built[words.pop(0).removeprefix("--from=")]
        container.copy(origin.root / words[0].lstrip("/"), words[1])
    elif words[:-1] == ["."]:
        for path in context():
            container.copy(ROOT / path, str(path))
    else:
        for word in words[:-1]:
            container.copy(ROOT / word, words[-1])


def last_words(name: str) -> list[str]:
    """Return the words of the last stage's instruction `name`, a JSON list."""
    (text,) = [text for each, text in stages()[-1].instructions if each == name]
    words: list[str] = json.loads(text[text.index("[") :])
    return words


def start(container: Container, volume: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """Run `command` by the entry point as the user of the image, on a read-only file system with a volume."""
    root, data = str(container.root), f"{container.root}/var/lib/directory-server"
    if not os.path.ismount(data):
        volume.mkdir(mode=0o700)
        os.chown(volume, 10001, 10001)
        _run("mount", "-o", "remount,ro", root)
        _run("mount", "--bind", str(volume), data)
        _run("mount", "-t", "tmpfs", "tmpfs", f"{root}/tmp")
    shell = ["/bin/sh", "-c", 'cd /var/lib/directory-server && exec "$@"', "sh"]
    return subprocess.Popen(
        ["/usr/sbin/chroot", "--userspec=10001:10001", "--groups=", root, *shell, *last_words("ENTRYPOINT"), *command],
        env=container.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _run(*command: str, env: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, check=True, env=env, stdin=subprocess.DEVNULL)


def main() -> None:
    """Build, start a server, ask for its health, create a key, stop the server; print what fails."""
    folder = Path(sys.argv[1]).resolve()
    container = build(folder)
    size = sum(each.lstat().st_size for each in (container.root / "opt/directory-server").rglob("*") if each.is_file())
    print(f"/opt/directory-server: {size / 1e6:.0f} MB", flush=True)
    server = start(container, folder / "volume", last_words("CMD"))
    try:
        for _ in range(60):
            check = start(container, folder / "volume", last_words("HEALTHCHECK"))
            output, _errors = check.communicate(timeout=30)
            if check.returncode == 0:
                break
        assert check.returncode == 0, output
        key = start(container, folder / "volume", ["directory-server", "key", "create", "--label", "first"])
        output, _errors = key.communicate(timeout=60)
        assert key.returncode == 0, output
        assert b"mcpd_" in output
        server.terminate()
        output, _errors = server.communicate(timeout=30)
    finally:
        server.kill()
    print(output.decode())
    # twistd ends by the signal after an orderly stop.
    assert server.returncode in (0, -signal.SIGTERM), server.returncode
    assert b"Server Shut Down." in output
    assert b"Traceback" not in output
    print("The image's server started, was healthy, and stopped.")


if __name__ == "__main__":
    main()
