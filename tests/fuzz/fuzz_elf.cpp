// Any bytes as a file of code: its facts about itself and about CPython in it, and the functions and lines at its addresses.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include <elf.h>
#include <fcntl.h>

#include "code/modules.h"
#include "code_names/file_names.h"
#include "fuzz_target.h"
#include "interpreter_file.h"
#include "scratch_file.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file(".so");
  file.write(data, size);
  (void)python::read_interpreter_file(channel::FileDescriptor(open(file.path().c_str(), O_RDONLY | O_CLOEXEC)).get());
  cpu::Module module;
  const cpu::ElfFacts facts = cpu::read_elf_facts(file.path());
  module.segments = facts.segments;
  std::string folders;
  code_names::FileNames names(file.path(), channel::FileDescriptor(open(file.path().c_str(), O_RDONLY | O_CLOEXEC)), folders);
  std::vector<std::uint64_t> addresses{0, 0x1000, 0x1139, ~std::uint64_t{0}};
  for (const cpu::Module::Segment& segment : std::span(facts.segments).first(std::min<std::size_t>(facts.segments.size(), 4)))
    for (const std::uint64_t part : {std::uint64_t{0}, segment.size / 3, segment.size / 2, segment.size - 1}) addresses.push_back(segment.address + part);
  for (const std::uint64_t address : addresses) {
    (void)module.address_of(address);
    (void)names.find(address);
  }
  return 0;
}

// Bytes are not moved, because offsets in the file give the places of its parts.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  if (size < sizeof(Elf64_Ehdr) || random() % 32 == 0) return LLVMFuzzerMutate(data, size, most);
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof(header));
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    std::size_t at = random() % size;
    if (random() % 4 == 0) at = random() % sizeof(header);
    if (random() % 4 == 0 && header.e_shoff < size) at = std::min(size - 1, header.e_shoff + random() % (header.e_shnum * sizeof(Elf64_Shdr) + 1));
    constexpr std::uint64_t kEnds[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, ~std::uint64_t{0}, 1ull << 63};
    const std::uint64_t value = random() % 2 ? kEnds[random() % std::size(kEnds)] : random();
    std::memcpy(data + at, &value, std::min<std::size_t>(1u << random() % 4, size - at));
  }
  return size;
}

std::vector<std::string> valid_inputs() {
  std::ifstream stream(LANESCOPE_FUZZ_ELF, std::ios::binary);
  return {std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>())};
}
