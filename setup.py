"""Packaging that must be code: the twistd plugin lives in Twisted's own namespace package."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["directory_server", "directory_server.*"]), "twisted.plugins"],
    package_dir={"": "."},
)
