// Which of a GPU's code the agent sends, tested on a cubin of three kernels whose sections this test reads by itself.
#include "agent/kernels/code_objects.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::agent::kernels;
using namespace lanescope::test;

namespace {

constexpr std::uint64_t kCrc = 0xfff2'a5e2;

CUptiResult always_the_same(CUpti_GetCubinCrcParams* parameters) {
  parameters->cubinCrc = kCrc;
  return CUPTI_SUCCESS;
}

std::string cubin_image() {
  std::ifstream file(data_file("kernels/transpositions.cubin"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Number>
Number at(const std::string& image, std::size_t place) {
  Number number;
  std::memcpy(&number, image.data() + place, sizeof(number));
  return number;
}

struct Function {
  std::uint32_t symbol = 0;
  std::size_t offset = 0;  // of its section's code in the image
  std::size_t size = 0;
};
Function find_function(const std::string& image, const std::string& mangled) {
  constexpr std::size_t kSectionBytes = 64, kSymbolBytes = 24;
  const auto table = at<std::uint64_t>(image, 40);
  const auto section = [&](std::size_t number, std::size_t field) { return at<std::uint64_t>(image, table + number * kSectionBytes + field); };
  for (std::size_t number = 0; number < at<std::uint16_t>(image, 60); ++number) {
    if (at<std::uint32_t>(image, table + number * kSectionBytes + 4) != 2) continue;
    const std::uint64_t names = section(at<std::uint32_t>(image, table + number * kSectionBytes + 40), 24);
    for (std::uint32_t symbol = 0; symbol < section(number, 32) / kSymbolBytes; ++symbol) {
      const std::size_t entry = section(number, 24) + symbol * kSymbolBytes;
      const auto code = at<std::uint16_t>(image, entry + 6);
      if ((image[entry + 4] & 15) == 2 && mangled == image.c_str() + names + at<std::uint32_t>(image, entry))
        return {symbol, static_cast<std::size_t>(section(code, 24)), static_cast<std::size_t>(section(code, 32))};
    }
  }
  FAIL("no such function");
  std::abort();
}

// What a reader reassembles from all available parts.
struct Reader {
  std::string image;
  std::size_t parts = 0;

  void take_all(CodeObjects& code, std::size_t most_bytes) {
    for (auto part = code.take_wanted(most_bytes); !part.bytes.empty(); part = code.take_wanted(most_bytes), ++parts) {
      CHECK(part.crc == kCrc);
      CHECK(part.bytes.size() <= most_bytes);
      REQUIRE(part.offset <= image.size());
      image.replace(part.offset, part.bytes.size(), reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
      CHECK(image.size() <= part.size);
    }
  }
};

struct Transpositions {
  std::string image = cubin_image();
  Function by_columns = find_function(image, "_Z20transpose_by_columnsPfPKf");
  Function shared = find_function(image, "_Z16transpose_sharedPfPKf");
  Function padded = find_function(image, "_Z16transpose_paddedPfPKf");
  CodeObjects code{always_the_same};

  Transpositions() { code.add(std::as_bytes(std::span(image))); }
  [[nodiscard]] std::string without(std::initializer_list<Function> functions) const {
    std::string masked = image;
    for (const Function& function : functions) masked.replace(function.offset, function.size, function.size, '\0');
    return masked;
  }
};

}  // namespace

TEST_CASE("of an image that code which was sampled is sent, and the rest as zeros until it is sampled, too") {
  Transpositions t;
  const std::size_t most = GENERATE(100u, 4096u, 1u << 20);
  Reader reader;
  reader.take_all(t.code, most);
  CHECK(reader.parts == 0);  // nothing was wanted
  t.code.want(kCrc, t.shared.symbol);
  reader.take_all(t.code, most);
  CHECK(reader.image == t.without({t.by_columns, t.padded}));
  const std::size_t parts = reader.parts;
  t.code.want(kCrc, t.shared.symbol);
  reader.take_all(t.code, most);
  CHECK(reader.parts == parts);  // once is enough
  t.code.want(kCrc, t.by_columns.symbol);
  reader.take_all(t.code, most);
  CHECK(reader.image == t.without({t.padded}));
  CHECK(reader.parts == parts + (t.by_columns.size + most - 1) / most);
  t.code.want(kCrc);
  reader.take_all(t.code, most);
  CHECK(reader.image == t.image);
}

TEST_CASE("what is wanted while an image is sent comes, too") {
  Transpositions t;
  t.code.want(kCrc, t.shared.symbol);
  Reader reader;
  const auto first = t.code.take_wanted(100);
  reader.image.assign(reinterpret_cast<const char*>(first.bytes.data()), first.bytes.size());
  t.code.want(kCrc, t.padded.symbol);
  reader.take_all(t.code, 100);
  CHECK(reader.image == t.without({t.by_columns}));
}

TEST_CASE("an image is sent whole where the function can't be found in it, or where it is no cubin") {
  Transpositions t;
  Reader reader;
  t.code.want(kCrc, 0);
  reader.take_all(t.code, 4096);
  CHECK(reader.image == t.image);
  t.code.forget_taken();
  Reader second;
  t.code.want(kCrc, 1'000'000);
  second.take_all(t.code, 4096);
  CHECK(second.image == t.image);

  for (std::size_t bytes : {1u, 63u, 64u, 200u}) {
    CodeObjects code(always_the_same);
    const std::string cut = t.image.substr(0, bytes);
    code.add(std::as_bytes(std::span(cut)));
    code.want(kCrc, t.shared.symbol);
    Reader third;
    third.take_all(code, 4096);
    CHECK(third.image == cut);
  }
}

TEST_CASE("an image whose tables lead anywhere is read within its bounds") {
  Transpositions t;
  const auto table = static_cast<std::size_t>(at<std::uint64_t>(t.image, 40));
  std::uint32_t seed = 1;
  for (int round = 0; round < 2'000; ++round) {
    std::string damaged = t.image;
    for (int change = 0; change < 4; ++change) {
      seed = seed * 1'664'525 + 1'013'904'223;
      const std::size_t place = change % 2 == 0 ? table + seed % (damaged.size() - table) : seed % damaged.size();
      damaged[place] = static_cast<char>(seed >> 24);
    }
    CodeObjects code(always_the_same);
    code.add(std::as_bytes(std::span(damaged)));
    code.want(kCrc, t.shared.symbol);
    code.want(kCrc, t.padded.symbol);
    Reader reader;
    reader.take_all(code, 1'000);
    CHECK(reader.image.size() == damaged.size());
    code.want(kCrc);
    reader.take_all(code, 1'000);
    CHECK(reader.image == damaged);
  }
}
