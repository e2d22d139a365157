// The code that the kernel maps into every process, copied from our own memory: it is in no file.
#pragma once

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "collector/channel/file_descriptor.h"

namespace lanescope::cpu {

using channel::FileDescriptor;

// A file with a copy of the vdso; invalid if there is none.
inline FileDescriptor own_vdso() {
  const unsigned long start = getauxval(AT_SYSINFO_EHDR);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; start != 0 && std::getline(maps, line);) {
    if (!line.ends_with("[vdso]")) continue;
    const std::size_t size = std::stoul(line.substr(line.find('-') + 1), nullptr, 16) - start;
    FileDescriptor file(memfd_create("vdso", MFD_CLOEXEC));
    if (file.valid() && write(file.get(), reinterpret_cast<const void*>(start), size) == static_cast<ssize_t>(size)) return file;
  }
  return {};
}

}  // namespace lanescope::cpu
