"""Packaging that must be code: a plugin in Twisted's namespace package, and a compiled module that is optional."""

from setuptools import Extension, find_packages, setup

KERNEL = Extension(
    "directory_server.search.index._kernel",
    ["directory_server/search/index/_kernel.c"],
    # The same results as numpy: no fused multiplication and addition.
    extra_compile_args=["-O3", "-ffp-contract=off"],
    py_limited_api=True,
    # Without a C compiler the package installs all the same, and searches with numpy.
    optional=True,
)

setup(
    packages=[*find_packages(include=["directory_server", "directory_server.*"]), "twisted.plugins"],
    package_dir={"": "."},
    ext_modules=[KERNEL],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
