"""Packaging that must be code: documentation pages, a plugin of Twisted, and the optional compiled engine."""

import os
import re
import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent

# A release has a wheel without the engine, for all systems (deploy/release.py).
WITHOUT_COMPILED = "WITHOUT_COMPILED" in os.environ

SEARCH = "directory_server/search"

VERSION = re.search(r"(?m)^ENGINE_VERSION = (\d+)$", (ROOT / SEARCH / "index" / "arrays.py").read_text("utf-8"))
assert VERSION is not None

ENGINE = Extension(
    "directory_server.search._engine",
    sorted(str(path.relative_to(ROOT)) for path in (ROOT / SEARCH / "engine").glob("*.c")),
    depends=[f"{SEARCH}/engine/engine.h", f"{SEARCH}/index/arrays.py"],
    define_macros=[("ENGINE_VERSION", VERSION[1])],
    # The same results as numpy: no fused multiplication and addition.
    extra_compile_args=["-O3", "-ffp-contract=off", "-fvisibility=hidden"],
    py_limited_api=True,
    # Without a C compiler the package installs all the same, and uses Python and numpy instead.
    optional="REQUIRE_COMPILED" not in os.environ,
)


class BuildWithPages(build_py):
    """Render docs/ for the package; in an editable installation, in the source tree."""

    def run(self) -> None:
        """Copy the modules and data, and write the pages."""
        super().run()
        base = ROOT if self.editable_mode else Path(self.build_lib)
        pages = base / "directory_server" / "features" / "docs" / "pages.json"
        pages.parent.mkdir(parents=True, exist_ok=True)
        runpy.run_path(str(ROOT / "docs" / "render.py"))["write"](pages)


class BuildWithWarning(build_ext):
    """Compile the engine, or delete the file of an older build and warn."""

    def run(self) -> None:
        """Compile it if that is possible, and print the warning last, where it is read."""
        self.failed: list[str] = []
        super().run()
        if self.failed:
            print(
                f"\nWARNING: not compiled: {', '.join(self.failed)}.\nThe package works without these modules, but is "
                "slower. The messages of the compiler are above.\nInstall a C compiler and the headers of Python, "
                "then build again.\n",
                file=sys.stderr,
            )

    def build_extension(self, ext: Extension) -> None:
        """Compile a module. setuptools catches the errors of modules that are optional."""
        try:
            super().build_extension(ext)
        except Exception:
            self.failed.append(ext.name)
            # The file of an earlier build does not belong to this source.
            folder = ROOT if self.editable_mode else Path(self.build_lib)
            (folder / self.get_ext_filename(ext.name)).unlink(missing_ok=True)
            raise


setup(
    packages=[*find_packages(include=["directory_server", "directory_server.*"]), "twisted.plugins"],
    package_dir={"": "."},
    ext_modules=[] if WITHOUT_COMPILED else [ENGINE],
    cmdclass={"build_ext": BuildWithWarning, "build_py": BuildWithPages},
    options={} if WITHOUT_COMPILED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
