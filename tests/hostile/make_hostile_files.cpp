// Writes the hostile files: lanescope_hostile_files FOLDER BYTES [NAME...]
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "hostile_files.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: lanescope_hostile_files FOLDER BYTES [NAME...]\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const lanescope::test::HostileFile& file : lanescope::test::hostile_files()) {
    if (argc > 3 && std::find(argv + 3, argv + argc, file.name) == argv + argc) continue;
    const std::filesystem::path path = folder / (file.name + ".trace");
    file.write(path, std::strtoull(argv[2], nullptr, 10));
    std::cout << path.string() << ' ' << std::filesystem::file_size(path) << '\n';
  }
}
