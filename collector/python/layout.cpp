#include "layout.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "memory.h"

namespace lanescope::python {
namespace {

constexpr std::uint8_t kFirstOwnerOfC = 3;         // FRAME_OWNED_BY_CSTACK (3.12, 3.13), FRAME_OWNED_BY_INTERPRETER (newer)
constexpr std::uint32_t kMaximumSize = 16 * 1024;  // most bytes that are read of one structure
constexpr unsigned kLastKnown = 15;

std::uint32_t size_for(std::initializer_list<std::int64_t> offsets) {
  return static_cast<std::uint32_t>(std::max(offsets)) + static_cast<std::uint32_t>(sizeof(std::uint64_t));
}

// Sets the bytes to read so that every field is included.
void set_sizes(Layout& layout) {
  layout.thread_size = size_for({layout.thread_next, layout.thread_interpreter, layout.thread_number, layout.thread_frame});
  layout.frame_size =
      size_for({layout.frame_previous, layout.frame_code, layout.frame_instruction, layout.frame_owner, layout.frame_is_entry, layout.frame_copy});
  layout.code_size = size_for(
      {layout.object_type, layout.object_count, layout.code_name, layout.code_file, layout.code_first_line, layout.code_line_table, layout.code_copies});
}

// Layout of versions whose frames are Python objects (PyFrameObject).
Layout layout_with_frame_objects() {
  Layout layout;
  layout.runtime_interpreters = 32;
  layout.interpreter_threads = 8;
  layout.thread_next = 8;
  layout.thread_interpreter = 16;
  layout.thread_number = 176;
  layout.thread_number_is_native = false;
  layout.thread_frame = 24;
  layout.frame_previous = 24;
  layout.frame_code = 32;
  layout.code_name = 112;
  layout.code_file = 104;
  layout.code_first_line = 40;
  layout.code_line_table = 120;
  layout.text_ascii_data = 48;
  layout.text_data = 72;
  return layout;
}

Layout layout_3_9() {
  Layout layout = layout_with_frame_objects();
  layout.frame_instruction = 104;
  layout.lines = LineTableFormat::kSteps;
  layout.instruction_unit = 1;
  return layout;
}

Layout layout_3_10() {
  Layout layout = layout_with_frame_objects();
  layout.frame_instruction = 96;
  layout.lines = LineTableFormat::kRanges;
  layout.instruction_unit = 2;
  return layout;
}

Layout layout_3_11() {
  Layout layout;
  layout.runtime_interpreters = 40;
  layout.interpreter_threads = 16;
  layout.thread_next = 8;
  layout.thread_interpreter = 16;
  layout.thread_number = 160;
  layout.thread_frame = 56;
  layout.frame_of_c_frame = 8;
  layout.frame_previous = 48;
  layout.frame_code = 32;
  layout.frame_instruction = 56;
  layout.frame_is_entry = 68;
  layout.code_name = 128;
  layout.code_file = 112;
  layout.code_first_line = 72;
  layout.code_line_table = 136;
  layout.code_instructions = 184;
  layout.text_ascii_data = 48;
  layout.text_data = 72;
  return layout;
}

Layout layout_3_12() {
  Layout layout;
  layout.runtime_interpreters = 40;
  layout.interpreter_threads = 72;
  layout.thread_next = 8;
  layout.thread_interpreter = 16;
  layout.thread_number = 144;
  layout.thread_frame = 56;
  layout.frame_of_c_frame = 0;
  layout.frame_previous = 8;
  layout.frame_code = 0;
  layout.frame_instruction = 56;
  layout.frame_owner = 70;
  layout.first_owner_of_c = kFirstOwnerOfC;
  layout.code_name = 128;
  layout.code_file = 112;
  layout.code_first_line = 68;
  layout.code_line_table = 136;
  layout.code_instructions = 192;
  layout.text_ascii_data = 40;
  layout.text_data = 56;
  return layout;
}

// Takes the numbers of _Py_DebugOffsets in order.
class Offsets {
 public:
  explicit Offsets(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint32_t take() {
    const auto value = field<std::uint64_t>(bytes_, at_);
    is_whole_ = is_whole_ && at_ + sizeof(value) <= bytes_.size() && value < kMaximumSize;
    at_ += sizeof(value);
    return static_cast<std::uint32_t>(value);
  }
  // Skips numbers. Skipped numbers of a group may be sizes of structures, which are not offsets.
  void skip(std::size_t count) { at_ += count * sizeof(std::uint64_t); }
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool is_whole_ = true;
};

}  // namespace

Result<Layout> known_layout(unsigned minor) {
  Layout layout;
  switch (minor) {
    case 9:
      layout = layout_3_9();
      break;
    case 10:
      layout = layout_3_10();
      break;
    case 11:
      layout = layout_3_11();
      break;
    case 12:
      layout = layout_3_12();
      break;
    default:
      return Error{"how CPython 3." + std::to_string(minor) + " lays out its memory is not known"};
  }
  layout.minor = minor;
  set_sizes(layout);
  return layout;
}

Result<Layout> layout_by_offsets(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kCookie = 0x79'70'67'75'62'65'64'78;  // "xdebugpy"
  if (field<std::uint64_t>(bytes, 0) != kCookie) return Error{"its description of itself (_Py_DebugOffsets) was not found"};
  const auto version = field<std::uint64_t>(bytes, 8);
  Layout layout;
  layout.minor = static_cast<unsigned>(version >> 16 & 0xff);
  if (version >> 24 != 3 || layout.minor < kFirstWithOffsets || layout.minor > kLastKnown)
    return Error{"how CPython " + std::to_string(version >> 24) + "." + std::to_string(layout.minor) + " lays out its memory is not known"};
  const bool is_free_threaded = field<std::uint64_t>(bytes, 16) != 0;
  const bool since_3_14 = layout.minor >= 14;
  const bool since_3_15 = layout.minor >= 15;

  Offsets offsets(bytes);
  offsets.skip(3);
  offsets.skip(2);  // size, finalizing
  layout.runtime_interpreters = offsets.take();
  offsets.skip(2);  // size, id
  layout.interpreter_next = offsets.take();
  layout.interpreter_threads = offsets.take();
  offsets.skip(since_3_14 ? 12 : 9);
  offsets.skip(2);  // size, prev
  layout.thread_next = offsets.take();
  layout.thread_interpreter = offsets.take();
  layout.thread_frame = offsets.take();
  offsets.skip(since_3_15 ? 3 : 0);  // base_frame and two of a profiler
  offsets.skip(1);                   // thread_id
  layout.thread_number = offsets.take();
  offsets.skip(2);
  offsets.skip(since_3_15 ? 4 + 1 : 0);  // holds_gil to exc_state, err_stackitem
  offsets.skip(1);                       // size
  layout.frame_previous = offsets.take();
  layout.frame_code = offsets.take();
  layout.frame_instruction = offsets.take();
  offsets.skip(1);  // localsplus
  layout.frame_owner = static_cast<std::int32_t>(offsets.take());
  layout.first_owner_of_c = kFirstOwnerOfC;
  if (since_3_14) {
    offsets.skip(1);  // stackpointer
    layout.frame_copy = offsets.take();
  }
  offsets.skip(1);  // size
  layout.code_file = offsets.take();
  offsets.skip(1);  // name
  layout.code_name = offsets.take();
  layout.code_line_table = offsets.take();
  layout.code_first_line = offsets.take();
  offsets.skip(3);
  layout.code_instructions = offsets.take();
  if (since_3_14) layout.code_copies = offsets.take();
  layout.object_count = offsets.take();  // it follows the fields that all objects have
  layout.object_type = offsets.take();
  offsets.skip(1);
  layout.type_name = offsets.take();
  offsets.skip(2);
  offsets.skip(since_3_15 ? 2 + 2 : 0);                    // two more of types, heap types
  offsets.skip(3 + 3 + (since_3_14 ? 4 : 0) + 3 + 2 + 3);  // tuple, list, set, dict, float, long
  offsets.skip(1);
  layout.bytes_length = offsets.take();
  layout.bytes_data = offsets.take();
  offsets.skip(1);
  layout.text_state = offsets.take();
  layout.text_length = offsets.take();
  layout.text_ascii_data = offsets.take();
  constexpr std::uint32_t kOfNotAscii = 16;  // length and address of the UTF-8 text, which PyCompactUnicodeObject has in addition
  layout.text_data = layout.text_ascii_data + kOfNotAscii;
  constexpr std::uint32_t kByte = 8;  // a whole byte can be written atomically, a part of one can't
  if (is_free_threaded && since_3_14) layout.text_kind_shift = kByte;
  if (!offsets.is_whole()) return Error{"its description of itself (_Py_DebugOffsets) makes no sense"};
  set_sizes(layout);
  return layout;
}

}  // namespace lanescope::python
