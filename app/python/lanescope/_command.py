"""The command `lanescope` of the wheel. It replaces itself by the recorder that lies beside this package."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = str(Path(__file__).parent / "_native" / "bin" / "lanescope")
    os.environ.setdefault("LANESCOPE_PYTHON", sys.executable)  # this interpreter has the package, which `lanescope fleet` needs
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"lanescope: {program} is not there: the package lanescope that Python finds is not that of the wheel. Look at PYTHONPATH, or install the wheel anew.")
    except OSError as error:
        sys.exit(f"lanescope: {program} can't be run: {error.strerror}. Install the wheel anew.")
