// What interpreters say about their own memory, and what is known about it if they do not.
#include <cstring>
#include <string>

#include "layout.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::python;

namespace {

// _Py_DebugOffsets of 3.13; each number equals its own place, so that a wrong place shows.
std::vector<std::byte> offsets(std::uint64_t version, std::uint64_t free_threaded = 0) {
  std::vector<std::uint64_t> numbers(kOffsetsSize / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  std::memcpy(numbers.data(), "xdebugpy", sizeof(std::uint64_t));
  numbers[1] = version;
  numbers[2] = free_threaded;
  std::vector<std::byte> bytes(kOffsetsSize);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

constexpr std::uint64_t k3_13 = 0x030d00f0;
constexpr std::uint64_t k3_14 = 0x030e00f0;
constexpr std::uint64_t k3_15 = 0x030f00f0;

}  // namespace

TEST_CASE("each offset is taken from where the structure of that version has it") {
  const Result<Layout> layout = layout_by_offsets(offsets(k3_13));
  REQUIRE(layout);
  CHECK(layout->minor == 13);
  // Counted by hand in pycore_runtime.h: 8 bytes each, the cookie is number 0.
  CHECK(layout->runtime_interpreters == 5);
  CHECK(layout->interpreter_next == 8);
  CHECK(layout->interpreter_threads == 9);
  CHECK(layout->thread_next == 21);
  CHECK(layout->thread_frame == 23);
  CHECK(layout->thread_number == 25);
  CHECK(layout->frame_previous == 29);
  CHECK(layout->frame_owner == 33);
  CHECK(layout->code_file == 35);
  CHECK(layout->code_name == 37);
  CHECK(layout->code_instructions == 43);
  CHECK(layout->object_type == 45);
  CHECK(layout->type_name == 47);
  CHECK(layout->bytes_data == 66);
  CHECK(layout->text_ascii_data == 70);
  CHECK(layout->frame_of_c_frame < 0);

  // 3.14 has ten more numbers: three of interpreters, two of frames, one of code, four of sets.
  const Result<Layout> next = layout_by_offsets(offsets(k3_14));
  REQUIRE(next);
  CHECK(next->thread_next == layout->thread_next + 3);
  CHECK(next->code_file == layout->code_file + 5);
  CHECK(next->object_type == layout->object_type + 6);
  CHECK(next->bytes_data == layout->bytes_data + 10);
  // 3.15 has three more before the thread's number, five after it, and four of types.
  const Result<Layout> last = layout_by_offsets(offsets(k3_15));
  REQUIRE(last);
  CHECK(last->thread_frame == next->thread_frame);
  CHECK(last->thread_number == next->thread_number + 3);
  CHECK(last->frame_previous == next->frame_previous + 8);
  CHECK(last->type_name == next->type_name + 8);
  CHECK(last->bytes_data == next->bytes_data + 12);
}

TEST_CASE("a free-threaded interpreter says where its code's copies are, and has another layout of strings from 3.14 on") {
  const Result<Layout> first = layout_by_offsets(offsets(k3_13, 1));
  REQUIRE(first);
  CHECK(first->frame_copy == 0);
  CHECK(first->text_kind_shift == 2);
  CHECK(first->object_count == 44);
  for (const std::uint64_t version : {k3_14, k3_15}) {
    const Result<Layout> layout = layout_by_offsets(offsets(version, 1));
    REQUIRE(layout);
    CHECK(layout->frame_copy == layout->frame_owner + 2u);
    CHECK(layout->code_copies == layout->code_instructions + 1);
    CHECK(layout->object_count == layout->code_copies + 1);
    CHECK(layout->text_kind_shift == 8);
    CHECK(layout_by_offsets(offsets(version, 0))->text_kind_shift == 2);
  }
}

TEST_CASE("an interpreter that can't be read is refused with its reason") {
  const auto reason = [](const Result<Layout>& layout) { return layout ? std::string() : layout.error().text; };
  CHECK_THAT(reason(layout_by_offsets(offsets(0x031000f0))), contains_text("CPython 3.16"));
  CHECK_THAT(reason(layout_by_offsets(offsets(0x040000f0))), contains_text("CPython 4.0"));
  CHECK_THAT(reason(layout_by_offsets({})), contains_text("was not found"));
  std::vector<std::byte> cut = offsets(k3_13);
  cut.resize(100);
  CHECK_THAT(reason(layout_by_offsets(cut)), contains_text("makes no sense"));
  std::vector<std::byte> large = offsets(k3_13);
  large[8 * 21 + 5] = std::byte{1};
  CHECK_THAT(reason(layout_by_offsets(large)), contains_text("makes no sense"));
  for (const unsigned minor : {0u, 8u, 13u}) CHECK_THAT(reason(known_layout(minor)), contains_text("3." + std::to_string(minor)));
}

TEST_CASE("what is read of a structure holds every field that is used") {
  for (const unsigned minor : {9u, 10u, 11u, 12u}) {
    const Result<Layout> layout = known_layout(minor);
    REQUIRE(layout);
    CAPTURE(minor);
    constexpr std::uint32_t kPointer = 8;
    CHECK(layout->thread_number + kPointer <= layout->thread_size);
    CHECK(layout->thread_frame + kPointer <= layout->thread_size);
    CHECK(layout->frame_previous + kPointer <= layout->frame_size);
    CHECK(layout->frame_instruction + kPointer <= layout->frame_size);
    CHECK(layout->code_line_table + kPointer <= layout->code_size);
  }
}
