#!/bin/sh
# public_headers.sh ROOT: checks that each public header belongs to a library, which compiles it by itself (all_verify_interface_header_sets).
set -eu
cd "$1"
lists=$(find model collector timeline app proto -name CMakeLists.txt -exec cat {} +)
failures=0
for header in $(find model collector timeline app -path '*/include/*.h'); do
  name=${header#*include/}
  name=${name#timeline/core/}  # whose list leaves this out, and the ending
  printf '%s\n' "$lists" | grep -qE "(^|[ /])${name%.h}(\.h)?([ )]|$)" || { echo "$header is in no list of HEADERS"; failures=1; }
done
exit $failures
