// Hostile files: names that take long to make readable.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

// `level` types, each of which contains the previous one twice.
std::string nested_types(int level, const std::string& before) {
  const auto reference = [](int number) {
    if (number == 0) return std::string("S_");
    std::string digits;
    for (--number; digits.empty() || number > 0; number /= 36) digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
    return "S" + digits + "_";
  };
  std::string mangled = "_Z1f" + before + "1aIiiE";
  for (int i = 1; i <= level; ++i) mangled += "S_I" + reference(i) + reference(i) + "E";
  return mangled;
}
void kernels_named(const Path& path, std::size_t bytes, const std::string& suffix, std::string (*name)(const std::string&)) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kNames = 1'000;
    chunk.set_first_string(next);
    proto::Kernels& kernels = kernels_in(chunk, kNames);
    kernels.clear_name();
    count_up(*kernels.mutable_name(), next, kNames);
    for (std::size_t i = 0; i < kNames; ++i) {
      const std::string number = std::to_string(next++);
      chunk.add_strings(name(std::to_string(number.size() + 1) + "n" + number + suffix));
    }
  });
}
void names_that_grow_when_demangled(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) { return nested_types(60, "") + type; });
}
void names_that_are_searched_for_packs(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) {
    std::string name = nested_types(60, "");
    return name.insert(name.find("1aIiiE"), "Dp") + type;
  });
}
void long_mangled_names(const Path& path, std::size_t bytes) {
  kernels_named(path, bytes, "", [](const std::string& type) { return "_Z1f" + std::string(800, 'P') + type; });
}

}  // namespace

std::vector<HostileFile> names() {
  return {
      {"names_that_grow_when_demangled", &names_that_grow_when_demangled},
      {"names_that_are_searched_for_packs", &names_that_are_searched_for_packs},
      {"long_mangled_names", &long_mangled_names},
  };
}

}  // namespace lanescope::test
