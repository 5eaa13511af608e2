"""Builds the one compiled module. Where no C compiler is at hand, its pure-Python twin serves."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(
                "snakka.protocol.records._columns",
                ["src/snakka/protocol/records/_columns.pyx"],
                depends=["src/snakka/protocol/records/_record_reader.pxd"],
                extra_compile_args=["-O3"],
                optional=True,
            )
        ],
        language_level=3,
    )
)
