#!/usr/bin/env bash
# recorder_image.sh CMAKE BUILD PACKAGING: makes the recorder's container image of a build twice; both must be equal. Checks each blob against its digest, and
# records with the contents of the layer. If skopeo is installed, it must read the image, too.
set -euo pipefail
cmake=$1 build=$2 packaging=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }
"$cmake" --install "$build" --prefix "$folder/tree" --component recorder >"$folder/log" || { cat "$folder/log"; exit 1; }
find "$folder/tree" -type f \( -path '*/bin/*' -o -name '*.so' \) -exec strip --strip-unneeded {} + 2>/dev/null || true
export SOURCE_DATE_EPOCH=1700000000
for copy in first second; do
  mkdir "$folder/$copy"
  "$packaging/image.py" "$folder/tree" 0.1.0 "$folder/$copy"
  touch "$folder/tree/bin/lanescope"
done
image=$folder/first/lanescope-recorder-0.1.0-image.tar
cmp "$image" "$folder/second/lanescope-recorder-0.1.0-image.tar" || fail "made twice, the image is not the same"
mkdir "$folder/image" "$folder/root"
tar xf "$image" -C "$folder/image"
for blob in "$folder"/image/blobs/sha256/*; do
  [ "$(sha256sum "$blob" | cut -d' ' -f1)" = "$(basename "$blob")" ] || fail "a blob has another digest than its name"
done
python3 - "$folder/image" <<'END' || fail "the image's parts do not fit together"
import gzip, hashlib, json, pathlib, sys
image = pathlib.Path(sys.argv[1])
def blob(described):
    data = (image / "blobs" / described["digest"].replace(":", "/")).read_bytes()
    assert len(data) == described["size"]
    return data
manifest = json.loads(blob(json.loads((image / "index.json").read_text())["manifests"][0]))
config = json.loads(blob(manifest["config"]))
layer = gzip.decompress(blob(manifest["layers"][0]))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
assert json.loads((image / "manifest.json").read_text())[0]["Layers"] == ["blobs/" + manifest["layers"][0]["digest"].replace(":", "/")]
END
layer=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["Layers"][0])' "$folder/image/manifest.json")
tar xzf "$folder/image/$layer" -C "$folder/root"
grep -q "elfutils (libdw)" "$folder/root/opt/lanescope/LICENSES" || fail "the layer lacks the licences of what is linked into it"
"$packaging/wheel.py" "$folder/tree" "$("$folder/tree/bin/lanescope" --version | cut -d' ' -f2)" x86_64 "$folder"
python3 -m zipfile -l "$folder"/*.whl | grep -q "dist-info/licenses/LICENSES.recorder" || fail "the wheel lacks the licences of what is linked into it"
"$folder/root/opt/lanescope/bin/lanescope" profile -t nvtx -s none --cpuctxsw none -o "$folder/x" true >/dev/null 2>&1 || fail "what is in the layer does not record"
if command -v skopeo >/dev/null; then
  skopeo inspect --config "oci-archive:$image" | grep -q '"PATH=/opt/lanescope/bin"' || fail "skopeo does not read it"
  skopeo inspect "docker-archive:$image" | grep -q '"Architecture": "amd64"' || fail "skopeo does not read it as Docker's"
fi
