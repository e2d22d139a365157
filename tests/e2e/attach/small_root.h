// A root folder of its own for the program that is attached to (nvtx_target.cpp).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

// A root that holds only the program and the libraries that it needs, like a small container.
inline std::filesystem::path make_root(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder / "root";
  for (const char* each : {"proc", "tmp"}) std::filesystem::create_directories(root / each);
  std::filesystem::copy_file(program("attach_nvtx_target"), root / "target");
  const std::string list = (folder / "libraries").string();
  REQUIRE(std::system(("ldd '" + program("attach_nvtx_target").string() + "' > '" + list + "'").c_str()) == 0);
  // Libraries of old programs come with every glibc; our agent needs them.
  std::vector<std::string> paths{"/lib/x86_64-linux-gnu/libdl.so.2", "/lib/x86_64-linux-gnu/libpthread.so.0"};
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('/');
    if (begin != std::string::npos) paths.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::filesystem::create_directories((root / path.substr(1)).parent_path());
    std::filesystem::copy_file(path, root / path.substr(1), ignored);
  }
  return root;
}

}  // namespace lanescope::test
