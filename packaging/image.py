#!/usr/bin/env python3
"""image.py TREE VERSION FOLDER: makes FOLDER/lanescope-recorder-VERSION-image.tar from TREE (bin/, lib/, share/). It is a container image of one layer that
contains only the recorder below /opt/lanescope. It is meant to be copied from: COPY --from=lanescope-recorder:VERSION /opt/lanescope /opt/lanescope

Load it by `docker load` or `podman load`, or push it by `skopeo copy oci-archive:FILE docker://...` (OCI image layout, with Docker's manifest). Times are
SOURCE_DATE_EPOCH and lists are sorted, so two images of one tree are equal.
"""
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile

tree, version, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
name = f"lanescope-recorder:{version}"


def put(archive, path, data=b"", kind=tarfile.REGTYPE, mode=0o644, target=""):
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.mtime, entry.size, entry.linkname = kind, mode, epoch, len(data), target
    archive.addfile(entry, io.BytesIO(data))


def layer():
    """The contents of /opt/lanescope as a tar, with the licences of what is linked into it."""
    licences = subprocess.run([pathlib.Path(__file__).with_name("licences.py"), "lanescope-recorder"], capture_output=True, check=True).stdout
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in ("opt", "opt/lanescope"):
            put(archive, path, kind=tarfile.DIRTYPE, mode=0o755)
        for each in sorted(tree.rglob("*")):
            path = f"opt/lanescope/{each.relative_to(tree)}"
            if each.is_symlink():
                put(archive, path, kind=tarfile.SYMTYPE, mode=0o777, target=os.readlink(each))
            elif each.is_dir():
                put(archive, path, kind=tarfile.DIRTYPE, mode=0o755)
            else:
                put(archive, path, each.read_bytes(), mode=0o755 if os.access(each, os.X_OK) else 0o644)
        put(archive, "opt/lanescope/LICENSES", licences)
    return stored.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def described(kind, data):
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest(data)}", "size": len(data)}


def text(value):
    return json.dumps(value, sort_keys=True).encode()


plain = layer()
packed = gzip.compress(plain, 9, mtime=0)
config = text({
    "architecture": "amd64",
    "os": "linux",
    "created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "config": {"Env": ["PATH=/opt/lanescope/bin"], "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0"}},
    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(plain)}"]},
    "history": [{"created_by": "packaging/image.py"}],
})  # fmt: skip
manifest = text({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": described("config.v1+json", config),
                 "layers": [described("layer.v1.tar+gzip", packed)]})  # fmt: skip
index = text({"schemaVersion": 2, "manifests": [{**described("manifest.v1+json", manifest), "annotations": {"org.opencontainers.image.ref.name": version,
                                                                                                            "io.containerd.image.name": f"docker.io/library/{name}"}}]})  # fmt: skip
of_docker = text([{"Config": f"blobs/sha256/{digest(config)}", "RepoTags": [name], "Layers": [f"blobs/sha256/{digest(packed)}"]}])
with tarfile.open(folder / f"lanescope-recorder-{version}-image.tar", "w", format=tarfile.GNU_FORMAT) as image:
    for path in ("blobs", "blobs/sha256"):
        put(image, path, kind=tarfile.DIRTYPE, mode=0o755)
    for blob in sorted((config, manifest, packed), key=digest):
        put(image, f"blobs/sha256/{digest(blob)}", blob)
    put(image, "index.json", index)
    put(image, "manifest.json", of_docker)
    put(image, "oci-layout", text({"imageLayoutVersion": "1.0.0"}))
