#!/usr/bin/env python3
"""wheel.py TREE VERSION PROCESSOR FOLDER: makes the Python package with the recorder inside, as one wheel for every Python from 3.9 on.

TREE is the installed recorder for PROCESSOR (x86_64, aarch64). It is put into lanescope/_native, where the package looks for it; the command `lanescope`
replaces itself by it (app/python/lanescope/_command.py)."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

tree, version, processor, folder = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
root = pathlib.Path(__file__).resolve().parents[1]
source = root / "app" / "python"
project = (source / "pyproject.toml").read_text()
assert re.search(rf'^version = "{re.escape(version)}"$', project, flags=re.M), "app/python/pyproject.toml has another version"
TAG = f"py3-none-manylinux_2_28_{processor}"
info = f"lanescope-{version}.dist-info"


def listed(name):
    return re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)\]", project, flags=re.M)[1])


extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\n", project, flags=re.S)[1]
metadata = ["Metadata-Version: 2.1", "Name: lanescope", f"Version: {version}", "Summary: An open timeline profiler for CUDA programs: recorder, and recordings as tables",
            "License: Apache-2.0", "Requires-Python: >=3.9", "Classifier: Operating System :: POSIX :: Linux", "Classifier: Programming Language :: Python :: 3",
            "Description-Content-Type: text/markdown"]
metadata += [f"Requires-Dist: {need}" for need in listed("dependencies")]
for name in re.findall(r"^(\w+) = ", extras, flags=re.M):
    metadata.append(f"Provides-Extra: {name}")
    metadata += [f'Requires-Dist: {need} ; extra == "{name}"' for need in re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*)\]$", extras, flags=re.M)[1])]

files = {f"lanescope/{path.relative_to(source / 'lanescope')}": (path.read_bytes(), 0o644)
         for path in (source / "lanescope").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
for path in tree.rglob("*"):
    inside = path.relative_to(tree)
    if path.is_file() and inside.parts[:2] in {("bin", path.name), *(("lib", part) for part in os.listdir(tree / "lib"))}:
        files[f"lanescope/_native/{inside}"] = (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
files[f"{info}/METADATA"] = ("\n".join([*metadata, "", (source / "README.md").read_text()]).encode(), 0o644)
plugin = re.search(r"\[project.entry-points.pytest11\]\n(.*?)\n\n", project, flags=re.S)[1]
files[f"{info}/entry_points.txt"] = (f"[console_scripts]\nlanescope = lanescope._command:main\n\n[pytest11]\n{plugin}\n".replace('"', "").encode(), 0o644)
files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: lanescope\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(), 0o644)
files[f"{info}/licenses/LICENSE"] = ((root / "LICENSE").read_bytes(), 0o644)
linked = subprocess.run([root / "packaging" / "licences.py", "lanescope-recorder"], capture_output=True, check=True).stdout
files[f"{info}/licenses/LICENSES.recorder"] = (linked, 0o644)  # of what is linked into the programs
rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, (data, _) in sorted(files.items())]
files[f"{info}/RECORD"] = ("\n".join([*rows, f"{info}/RECORD,,", ""]).encode(), 0o644)

stamp = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
with zipfile.ZipFile(folder / f"lanescope-{version}-{TAG}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, (data, mode) in sorted(files.items(), key=lambda item: (item[0].startswith(info), item[0])):
        entry = zipfile.ZipInfo(name, stamp)
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        archive.writestr(entry, data)
