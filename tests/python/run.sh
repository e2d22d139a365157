#!/bin/sh
# Runs one test file of the Python package: run.sh LANESCOPE TEST. Exit code 77 (skipped) if no Python has numpy, xxhash and zstandard, or if most
# of its tests lack what they need.
# LANESCOPE_PYTHON names the interpreter; with pyarrow, pandas and polars in it, these are tested, too.
set -eu
export LANESCOPE=$1
cd "$(dirname "$0")"
for python in ${LANESCOPE_PYTHON:-../../build/python/bin/python python3 /usr/bin/python3}; do  # distributions have the modules for their own
  "$python" -c 'import numpy, xxhash, zstandard' 2>/dev/null && exec "$python" -B run_tests.py "$2"
done
echo "no Python here has numpy, xxhash and zstandard: not tried"
exit 77
