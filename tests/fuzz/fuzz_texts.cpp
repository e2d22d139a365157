// Texts that a program chose and that are shown: names, payloads of ranges, output to a terminal. The first byte selects the use of the text.
#include <algorithm>
#include <cstdlib>

#include "fuzz_target.h"
#include "model/file/limits.h"
#include "model/trace/domains/nvtx_payload.h"
#include "model/trace/text/kernel_name.h"
#include "model/trace/text/utf8.h"

using namespace lanescope;

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// No control character of one byte or of two bytes (C1) comes through.
void check_printable(std::string_view text, LineBreaks breaks) {
  const std::string shown = printable(text, breaks);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto c = static_cast<unsigned char>(shown[i]), next = static_cast<unsigned char>(i + 1 < shown.size() ? shown[i + 1] : 0);
    const bool is_kept = (c == '\n' || c == '\t') && breaks == LineBreaks::kKept;
    if ((is_control(c) && !is_kept) || (c == 0xc2 && next >= 0x80 && next < 0xa0)) std::abort();
  }
  if (valid_utf8(shown) != shown) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      const std::string readable = demangle(text);
      if (readable.size() > limits::kDemangledBytes && readable != text) std::abort();
      (void)short_kernel_name(readable);
      (void)scoped_function_name(readable);
      break;
    }
    case 1: {
      const std::string valid = valid_utf8(text);
      if (valid_utf8(valid) != valid) std::abort();
      break;
    }
    case 2:
      check_printable(text, LineBreaks::kKept);
      check_printable(text, LineBreaks::kEscaped);
      break;
    default:
      (void)payload_fields(text);
      (void)payload_integer(text, "bytes");
      (void)has_unknown_fields(text);
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  using namespace std::string_literals;
  return {"\0_ZN2at6native12_GLOBAL__N_16reduceILi4EfEEvPT0_i"s,
          "\0void at::native::(anonymous namespace)::reduce<4, float>(float*, int)"s,
          "\0_Z1fIJifEEvDpT_"s,
          "\1step \xc3\xa9\xf0\x9f\x98\x80 \xed\xa0\x80",
          "\2\x1b]0;title\a\x1b[31mred\xc2\x9b\x7f\r\n\t",
          "\3{\"bytes\": 4096, \"name\": \"a\\u00e9\", \"list\": [1, -2.5e3, true, null], \"?\": {}}"};
}
