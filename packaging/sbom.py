#!/usr/bin/env python3
"""sbom.py VERSION ARCHITECTURE [PACKAGES]: lists what is inside the recorder for an architecture (amd64, arm64), as CycloneDX 1.5. PACKAGES is a file with a
package name per line; with it, the list is for the viewer's archive, which has the recorder and libraries of these Debian packages. The same source and
packages give the same text."""
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

from components import DEBIAN, OTHERS, debian_version

version, architecture = sys.argv[1:3]
bundled = sorted(set(pathlib.Path(sys.argv[3]).read_text().split())) if len(sys.argv) > 3 else []
whole = "lanescope" if bundled else "lanescope-recorder"
root = pathlib.Path(__file__).resolve().parents[1]
commit = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()


def licensed(expression):
    return [{"expression": expression}]


def of_debian(package, number, name, licences):
    return {"type": "library", "name": name, "version": number, "purl": f"pkg:deb/debian/{package}@{number}?arch={architecture}&distro=debian-12", **licences}


components = [{"type": "library", "name": name, "version": number, "licenses": licensed(licence)} for name, number, licence in OTHERS]
for package, name, licence in DEBIAN:
    number = debian_version(package)
    if number:
        components.append(of_debian(package, number, name, {"licenses": licensed(licence)}))
# Their licences are in their own files, which are in the archive.
components += [of_debian(package, debian_version(package), package, {}) for package in bundled]
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{whole}/{version}/{commit}')}",
    "version": 1,
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
        "component": {"type": "application", "name": whole, "version": version, "licenses": licensed("GPL-3.0-only AND Apache-2.0" if bundled else "Apache-2.0"),
                      "properties": [{"name": "commit", "value": commit}]},
    },
    "components": components,
}
print(json.dumps(document, indent=1))
