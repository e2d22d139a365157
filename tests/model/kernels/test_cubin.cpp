// The reader of cubins, on code that nvcc made from tests/programs/gpu/transpositions.cu, whose lines are known.
#include "model/kernels/code/cubin.h"

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::kernels;
using test::content;

namespace {

std::string image() { return content(test::data_file("kernels/transpositions.cubin")); }

const CubinFunction& find(const Cubin& cubin, std::string_view name) {
  for (const CubinFunction& function : cubin.functions())
    if (function.name.find(name) != std::string_view::npos) return function;
  FAIL("no function " << name);
  std::abort();
}

// Numbers of the lines of the program that contain a text.
std::set<std::uint32_t> lines_with(std::string_view text) {
  std::ifstream file(test::data_file("../programs/gpu/transpositions.cu"));
  std::set<std::uint32_t> lines;
  std::uint32_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(text) != std::string::npos) lines.insert(number);
  }
  return lines;
}

std::uint32_t opcode_at(const Cubin& cubin, const CubinFunction& function, std::uint64_t pc) {
  const auto code = cubin.code(function);
  return (std::to_integer<std::uint32_t>(code[pc]) | std::to_integer<std::uint32_t>(code[pc + 1]) << 8) & 0xfff;
}

constexpr std::uint32_t kStoreGlobal = 0x986;
constexpr std::uint32_t kStoreShared = 0x388;

}  // namespace

TEST_CASE("stores to global memory are on the lines of the source that store") {
  const auto cubin = Cubin::read(image());
  REQUIRE(cubin);
  CHECK(cubin->has_lines());
  const CubinFunction& naive = find(*cubin, "transpose_by_columns");
  const std::set<std::uint32_t> stores = lines_with("out[place(column, row + i, kRows)] =");
  REQUIRE(stores.size() == 1);
  std::size_t found = 0;
  for (std::uint64_t pc = 0; pc < naive.size; pc += kInstructionBytes) {
    if (opcode_at(*cubin, naive, pc) != kStoreGlobal) continue;
    ++found;
    const auto places = cubin->source(naive, pc);
    REQUIRE(!places.empty());
    CHECK(places.front().line == *stores.begin());
    CHECK(places.front().file.ends_with("/transpositions.cu"));
  }
  CHECK(found == 4);  // the loop has four rounds and is unrolled
}

TEST_CASE("an inlined instruction has its whole chain, from the innermost function to the kernel") {
  const auto cubin = Cubin::read(image());
  REQUIRE(cubin);
  const CubinFunction& padded = find(*cubin, "transpose_padded");
  const std::uint32_t inner = *lines_with("return row * columns + column;").begin();
  const std::set<std::uint32_t> middle = lines_with("[place(row + i, column, k");
  const std::uint32_t outer = *lines_with("{ through_tile<1>(out, in); }").begin();
  std::size_t chains = 0;
  for (std::uint64_t pc = 0; pc < padded.size; pc += kInstructionBytes) {
    const auto places = cubin->source(padded, pc);
    if (places.size() != 3) continue;
    ++chains;
    CHECK(places[0].line == inner);
    CHECK(places[0].function.find("place") != std::string_view::npos);
    CHECK(middle.count(places[1].line) == 1);
    CHECK(places[1].function.find("through_tile") != std::string_view::npos);
    CHECK(places[2].line == outer);
    CHECK(places[2].function.empty());
  }
  CHECK(chains > 0);
}

TEST_CASE("functions are found by their index and their name, and their code is as long as they are") {
  const auto cubin = Cubin::read(image());
  REQUIRE(cubin);
  CHECK(cubin->functions().size() == 3);
  for (const CubinFunction& function : cubin->functions()) {
    CHECK(cubin->function(function.index) == &function);
    CHECK(cubin->function(function.name) == &function);
    CHECK(function.is_kernel);
    CHECK(cubin->code(function).size() == function.size);
    CHECK(cubin->source(function, function.size).empty());
  }
  CHECK(cubin->function(1'000'000) == nullptr);
  CHECK(cubin->function("_Z7nothingv") == nullptr);
}

TEST_CASE("what is no cubin is refused with a sentence, and a cut one is read as far as it goes") {
  CHECK(!Cubin::read("").has_value());
  CHECK(!Cubin::read("PK\x03\x04 not at all").has_value());
  const std::string whole = image();
  for (std::size_t size = 0; size < whole.size(); size += 61) {
    const auto cubin = Cubin::read(whole.substr(0, size));
    if (!cubin) continue;
    for (const CubinFunction& function : cubin->functions()) {
      CHECK(cubin->code(function).size() <= function.size);
      for (const SourcePlace& place : cubin->source(function, 16)) CHECK(place.file.size() < whole.size());
    }
  }
}
