"""Packaging that must be code: documentation pages and a plugin of Twisted."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithPages(build_py):
    """Render docs/ for the package; in an editable installation, in the source tree."""

    def run(self) -> None:
        """Copy the modules and data, and write the pages."""
        super().run()
        base = ROOT if self.editable_mode else Path(self.build_lib)
        pages = base / "directory_server" / "features" / "docs" / "pages.json"
        pages.parent.mkdir(parents=True, exist_ok=True)
        runpy.run_path(str(ROOT / "docs" / "render.py"))["write"](pages)


setup(
    packages=[*find_packages(include=["directory_server", "directory_server.*"]), "twisted.plugins"],
    package_dir={"": "."},
    cmdclass={"build_py": BuildWithPages},
)
