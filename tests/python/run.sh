#!/bin/sh
# Runs one test file of the Python package: run.sh LANESCOPE TEST. Exit code 77 (skipped) where no Python has numpy, xxhash and zstandard.
# LANESCOPE_PYTHON names the interpreter; one with pyarrow, pandas and polars tests those, too.
set -eu
export LANESCOPE=$1
cd "$(dirname "$0")"
for python in ${LANESCOPE_PYTHON:-../../build/python/bin/python python3 /usr/bin/python3}; do  # distributions have the modules for their own
  "$python" -c 'import numpy, xxhash, zstandard' 2>/dev/null && exec "$python" -B -m unittest "$2"
done
exit 77
