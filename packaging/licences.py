#!/usr/bin/env python3
"""licences.py PACKAGE: prints the copyright file of a package: our licence and those of what is linked into it, from the packages on this machine."""
import pathlib
import sys

from components import DEBIAN, OTHERS, debian_version

package = sys.argv[1]
root = pathlib.Path(__file__).resolve().parents[1]
print("Lanescope\n\n" + (root / "LICENSE").read_text())
if package == "lanescope":
    print("The viewer lanescope-ui links Qt Charts, which is licensed under the GPL, version 3; this binary is therefore distributed under the GPL-3.\n"
          "Its text is in /usr/share/common-licenses/GPL-3.")
    sys.exit()
print("Parts of the programs come from the following projects. Of elfutils, which is linked statically, a changed version can be put in by building\n"
      "this package's source, which is complete, against it (packaging/package.sh).\n")
for name, version, licence in OTHERS:
    print(f"{name} {version}: {licence}")
for debian, name, licence in DEBIAN:
    version = debian_version(debian)
    if version:
        print(f"{name} ({debian} {version}): {licence}")
for debian, name, _ in DEBIAN:
    text = pathlib.Path("/usr/share/doc") / debian / "copyright"
    if text.exists():
        print(f"\n{'-' * 78}\n{name}\n{'-' * 78}\n{text.read_text(errors='replace')}")
