// Any bytes as a text file that may be gzip: the whole file is read in pieces, and its start is read alone.
#include <cstdlib>

#include <zlib.h>

#include "chrome/text_source.h"
#include "fuzz_target.h"
#include "scratch_file.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file(".gz");
  file.write(data, size);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string beginning = importers::beginning_of_gzip(input.substr(0, 4096));
  const auto source = importers::TextSource::open(file.path());
  if (!source) std::abort();
  std::string text(70'000, '\0');
  std::uint64_t unpacked = 0;
  for (std::size_t count = text.size(); count == text.size(); unpacked += count) count = (*source)->read(text);
  if (!(*source)->damage().empty() && (*source)->damage().back() == '.') std::abort();  // the damage must be the end of a sentence, without a period
  if (unpacked > importers::ImportLimits(size).unpacked_bytes() + (1u << 20)) std::abort();
  return 0;
}

std::vector<std::string> valid_inputs() {
  const auto packed = [](const std::string& text, int level) {
    z_stream state{};
    if (deflateInit2(&state, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
    std::string bytes(deflateBound(&state, text.size()), '\0');
    std::string input = text;
    state.next_in = reinterpret_cast<Bytef*>(input.data());
    state.avail_in = static_cast<uInt>(input.size());
    state.next_out = reinterpret_cast<Bytef*>(bytes.data());
    state.avail_out = static_cast<uInt>(bytes.size());
    if (deflate(&state, Z_FINISH) != Z_STREAM_END) std::abort();
    bytes.resize(state.total_out);
    deflateEnd(&state);
    return bytes;
  };
  const std::string text = R"({"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "name": "a"}]})";
  return {packed(text, 9),
          packed(text, 0),
          packed(text, 6) + packed(" \n", 6),
          packed(std::string(300'000, 'x'), 9),
          packed(text, 9) + std::string(64, '\0'),
          text};
}
