#!/usr/bin/env bash
# types.sh PACKAGE CACHE: the types that the Python package declares (py.typed) agree with its code, as mypy checks them.
set -uo pipefail
command -v mypy >/dev/null || { echo "SKIP: mypy is not installed, so the types of the Python package are not checked"; exit 77; }
mypy --strict --cache-dir "$2" -c 'import numpy, pytest, xxhash, zstandard' || { echo "SKIP: the Python of mypy lacks a package that the Python package imports"; exit 77; }
options=(--strict --config-file "$1/../pyproject.toml" --cache-dir "$2")
# Older versions of mypy take the result of a key function of sort() for an object of a class of their own if its type is not known.
read -r _ version _ < <(mypy --version)
[ "$(printf '%s\n' 1.4 "$version" | sort -V | head -1)" = 1.4 ] || options+=(--no-warn-return-any)
exec mypy "${options[@]}" "$1"
