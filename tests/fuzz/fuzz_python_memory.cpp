// The memory of a process that runs Python, with any bytes in it. The first byte says with which version's structures they are read.
#include <algorithm>
#include <cstring>

#include "fake_interpreter.h"
#include "fuzz_target.h"
#include "layout.h"
#include "line_table.h"
#include "stack_reader.h"

using namespace lanescope;
using namespace lanescope::python;

namespace {

// The bytes at FakeMemory's base; no other memory can be read.
class InputMemory final : public Memory {
 public:
  explicit InputMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
  using Memory::read;
  void read(std::span<Piece> pieces) override {
    for (Piece& piece : pieces) {
      const std::uint64_t offset = piece.address - test::FakeMemory::kBase;
      piece.was_read = piece.address >= test::FakeMemory::kBase && offset <= bytes_.size() && piece.into.size() <= bytes_.size() - offset;
      if (piece.was_read && !piece.into.empty()) std::memcpy(piece.into.data(), bytes_.data() + offset, piece.into.size());
    }
  }

 private:
  std::span<const std::byte> bytes_;
};

constexpr std::uint8_t kByOffsets = 4;  // the bytes contain the offsets, as in 3.13

Result<Layout> layout_of(std::uint8_t version, std::span<const std::byte> memory) {
  if (version % 8 >= kByOffsets) return layout_by_offsets(memory.first(std::min(memory.size(), kOffsetsSize)));
  return known_layout(9u + version % 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  for (const LineTableFormat format : {LineTableFormat::kSteps, LineTableFormat::kRanges, LineTableFormat::kLocations}) {
    const auto lines = decode_lines(format, bytes.first(std::min<std::size_t>(bytes.size(), 256)), data[0]);
    (void)line_at(lines, data[1], data[0]);
  }
  Result<Layout> layout = layout_of(data[0], bytes);
  if (!layout) return 0;
  if (data[0] % 16 >= 8) {  // as in a free-threaded build
    layout->frame_copy = 64;
    layout->code_copies = 184;
    layout->code_size = std::max<std::uint32_t>(layout->code_size, 192);
  }
  InputMemory memory(bytes);
  FunctionTable functions;
  StackReader reader(memory, *layout, test::FakeInterpreter::runtime, functions);
  std::vector<ThreadStack> threads;
  for (int reading = 0; reading < 2; ++reading) (void)reader.read(threads);
  return 0;
}

std::vector<std::string> valid_inputs() {
  test::FakeInterpreter interpreter;
  const auto module = interpreter.frame(interpreter.code("<module>", "/srv/train.py", 1), 7, interpreter.native_frame(0));
  const auto load = interpreter.code("Loader.load", "/srv/loader.py", 30);
  interpreter.thread(4711, interpreter.frame(load, 5, interpreter.frame(load, 1, interpreter.native_frame(module))));
  interpreter.begin_interpreter();
  interpreter.thread(4712, interpreter.frame(load, 2, 0));
  const std::string memory(reinterpret_cast<const char*>(interpreter.memory.bytes.data()), interpreter.used() + 64);
  std::vector<std::string> inputs;
  for (char version = 0; version < 12; ++version) inputs.push_back(version + memory);
  return inputs;
}
