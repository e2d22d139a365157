// A recorder and an agent of different builds must not take each other for the same build: each would read the other's data at wrong places.
#include "collector/channel/layout.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "support/catch.h"

using namespace lanescope;

namespace {

// The file's declarations, without comments and blanks.
std::string declarations(const std::string& path) {
  std::ifstream file(path);
  std::string all;
  for (std::string line; std::getline(file, line);)
    for (const char letter : line.substr(0, line.find("//")))
      if (letter != ' ') all += letter;
  return all;
}

std::uint64_t fingerprint(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace

TEST_CASE("what host and agent share is another layout version where it changes") {
  const std::string text = declarations(LANESCOPE_LAYOUT);
  REQUIRE(text.find("structSharedHeader{") != std::string::npos);
  INFO(
      "layout.h has changed. Raise kLayoutVersion, unless a recorder and an agent of both forms understand each other, and put the new "
      "fingerprint here.");
  CHECK(channel::kLayoutVersion == 24);
  CHECK(fingerprint(text) == 0x0ab093ab95bb8418);
}
