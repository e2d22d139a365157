// Offsets, in bytes, of the fields of CPython's structures that are read.
//
// From 3.13 on the interpreter states them itself (_Py_DebugOffsets, at the start of _PyRuntime). Those of 3.9 to 3.12 are the same in all their
// releases for 64-bit machines, and are listed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "line_table.h"
#include "model/file/result.h"

namespace lanescope::python {

struct Layout {
  unsigned minor = 0;  // 3.minor

  std::uint32_t runtime_interpreters = 0;  // _PyRuntimeState.interpreters.head
  std::uint32_t interpreter_next = 0;
  std::uint32_t interpreter_threads = 0;

  std::uint32_t thread_next = 0;
  std::uint32_t thread_interpreter = 0;
  std::uint32_t thread_number = 0;  // the kernel's number of the thread (3.11 and newer), else its pthread_t
  bool thread_number_is_native = true;
  std::uint32_t thread_frame = 0;      // PyThreadState: pointer to the innermost frame, or to the structure that has that pointer ...
  std::int32_t frame_of_c_frame = -1;  // ... at this offset (3.11, 3.12); negative if there is no such step
  std::uint32_t thread_size = 0;       // bytes to read to get all of these

  std::uint32_t frame_previous = 0;
  std::uint32_t frame_code = 0;
  std::uint32_t frame_instruction = 0;   // a pointer (3.11 and newer), else an int: the instruction's index or offset
  std::int32_t frame_owner = -1;         // 3.12 and newer: a byte; from first_owner_of_c on, the frame stands for a call by native code
  std::uint8_t first_owner_of_c = 0xff;  // owners from this on have no Python code
  std::int32_t frame_is_entry = -1;      // 3.11: a byte; not 0 if native code called this frame
  std::uint32_t frame_copy = 0;          // free-threaded 3.14 and newer: an int, the number of the copy of its instructions that runs; else 0
  std::uint32_t frame_size = 0;

  std::uint32_t code_name = 0;  // qualified from 3.11 on
  std::uint32_t code_file = 0;
  std::uint32_t code_first_line = 0;
  std::uint32_t code_line_table = 0;
  std::uint32_t code_instructions = 0;  // 3.11 and newer: where the instructions begin in the code object
  std::uint32_t code_copies = 0;        // with frame_copy: a pointer to an array, whose length is followed by pointers to the copies
  std::uint32_t code_size = 0;

  std::uint32_t object_type = 8;
  std::uint32_t object_count = 16;  // number of items, of an object that has items
  std::uint32_t type_name = 24;
  std::uint32_t text_length = 16;
  std::uint32_t text_state = 32;
  std::uint32_t text_kind_shift = 2;  // number of the low bits of the state that say whether it is interned
  std::uint32_t text_ascii_data = 0;  // where the characters of a string with only ASCII characters begin ...
  std::uint32_t text_data = 0;        // ... and those of another string
  std::uint32_t bytes_length = 16;
  std::uint32_t bytes_data = 32;

  LineTableFormat lines = LineTableFormat::kLocations;
  std::uint32_t instruction_unit = 1;  // bytes for each count of frame_instruction if that is an int
};

// The layout of 3.9 to 3.12. Fails for other versions, in one clause: "CPython 3.8 is not known".
[[nodiscard]] Result<Layout> known_layout(unsigned minor);

inline constexpr unsigned kFirstWithOffsets = 13;  // 3.13: from there on an interpreter states its own offsets

// The layout from the start of _PyRuntime of 3.13 and newer, free-threaded or not. `offsets` has at most kOffsetsSize bytes. Fails with one clause
// that says what is wrong.
inline constexpr std::size_t kOffsetsSize = 1024;
[[nodiscard]] Result<Layout> layout_by_offsets(std::span<const std::byte> offsets);

}  // namespace lanescope::python
