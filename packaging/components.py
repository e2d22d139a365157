"""What is linked into the recorder besides its own source: Debian's packages with their licences (SPDX), as installed on this machine."""
import subprocess

# Package, name of the software, licence.
DEBIAN = [
    ("libprotobuf-dev", "protobuf", "BSD-3-Clause"),
    ("libzstd-dev", "zstd", "BSD-3-Clause"),
    ("libxxhash-dev", "xxHash", "BSD-2-Clause"),
    ("libsqlite3-dev", "SQLite", "blessing"),
    ("zlib1g-dev", "zlib", "Zlib"),
    ("libdw-dev", "elfutils (libdw)", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    ("libelf-dev", "elfutils (libelf)", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    ("liblzma-dev", "liblzma", "LicenseRef-PublicDomain"),
    ("libbz2-dev", "bzip2", "bzip2-1.0.6"),
    ("libstdc++-12-dev", "GCC's C++ library", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libcli11-dev", "CLI11", "BSD-3-Clause"),
    ("nlohmann-json3-dev", "JSON for Modern C++", "MIT"),
    ("libprotozero-dev", "protozero", "BSD-2-Clause"),
]
OTHERS = [("simdjson", "3.0.1", "Apache-2.0"), ("NVTX", "3", "Apache-2.0 WITH LLVM-exception")]


def debian_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""
