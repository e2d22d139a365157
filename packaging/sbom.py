#!/usr/bin/env python3
"""sbom.py VERSION ARCHITECTURE: what is inside the recorder for an architecture (amd64, arm64), as CycloneDX 1.5. The same source and packages give the same text."""
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

from components import DEBIAN, OTHERS, debian_version

version, architecture = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parents[1]
commit = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()


def licensed(expression):
    return [{"expression": expression}]


components = [{"type": "library", "name": name, "version": number, "licenses": licensed(licence)} for name, number, licence in OTHERS]
for package, name, licence in DEBIAN:
    number = debian_version(package)
    if number:
        components.append({"type": "library", "name": name, "version": number, "purl": f"pkg:deb/debian/{package}@{number}?arch={architecture}&distro=debian-12", "licenses": licensed(licence)})
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'lanescope-recorder/{version}/{commit}')}",
    "version": 1,
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
        "component": {"type": "application", "name": "lanescope-recorder", "version": version, "licenses": licensed("Apache-2.0"),
                      "properties": [{"name": "commit", "value": commit}]},
    },
    "components": components,
}
print(json.dumps(document, indent=1))
