"""Packaging that must be code: a plugin in Twisted's namespace package, and compiled modules that are optional."""

from setuptools import Extension, find_packages, setup

COMPILED = [
    Extension(
        f"directory_server.search.index.{name}",
        [f"directory_server/search/index/{name}.c"],
        # The same results as numpy: no fused multiplication and addition.
        extra_compile_args=["-O3", "-ffp-contract=off"],
        py_limited_api=True,
        # Without a C compiler the package installs all the same, and searches with numpy.
        optional=True,
    )
    for name in ("_kernel", "_tables")
]

setup(
    packages=[*find_packages(include=["directory_server", "directory_server.*"]), "twisted.plugins"],
    package_dir={"": "."},
    ext_modules=COMPILED,
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
