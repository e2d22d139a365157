// An interpreter's memory, built by hand.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "layout.h"
#include "memory.h"

namespace lanescope::test {

// One piece of memory at kBase; nothing else can be read.
class FakeMemory final : public python::Memory {
 public:
  static constexpr std::uint64_t kBase = 0x5000'0000;
  static constexpr std::uint64_t kSize = 64 * 1024;
  using python::Memory::read;
  void read(std::span<python::Piece> pieces) override {
    ++calls;
    before_call();
    for (python::Piece& piece : pieces) {
      piece.was_read = piece.address >= kBase && piece.address - kBase <= kSize && piece.into.size() <= kSize - (piece.address - kBase);
      if (piece.was_read && !piece.into.empty()) std::memcpy(piece.into.data(), bytes.data() + (piece.address - kBase), piece.into.size());
    }
    after_call();
  }
  template <typename Value>
  void put(std::uint64_t address, Value value) {
    std::memcpy(bytes.data() + (address - kBase), &value, sizeof(value));
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(kSize);
  std::size_t calls = 0;
  std::function<void()> before_call = [] {};
  std::function<void()> after_call = [] {};
};

// Structures as in the layout of 3.12, and what a free-threaded 3.14 has in addition.
class FakeInterpreter {
 public:
  using Address = std::uint64_t;
  FakeInterpreter() : layout(*python::known_layout(12)) {
    begin_interpreter();
    type_ = take(64);
    const Address name = take(8);
    std::memcpy(at(name), "code", 5);
    memory.put(type_ + layout.type_name, name);
  }

  // Threads that are made from now on belong to another interpreter, which comes before the existing ones.
  void begin_interpreter() {
    const Address last = interpreter_;
    interpreter_ = take(256);
    memory.put(interpreter_ + layout.interpreter_next, last);
    memory.put(runtime + layout.runtime_interpreters, interpreter_);
    last_thread_ = 0;
  }
  // Frames may run copies of their code.
  void have_copies() {
    layout.frame_copy = 64;
    layout.code_copies = 184;
    layout.code_size = layout.code_copies + 8;
  }

  Address text(const std::string& letters) {
    const Address address = take(layout.text_ascii_data + letters.size() + 1);
    memory.put(address + layout.text_length, std::uint64_t{letters.size()});
    memory.put(address + layout.text_state, std::uint32_t{1u << 2 | 1u << 5 | 1u << 6});  // one byte a letter, compact, ASCII
    std::memcpy(at(address + layout.text_ascii_data), letters.data(), letters.size());
    return address;
  }
  // A code object whose n-th instruction is on line first_line + n.
  Address code(const std::string& function, const std::string& file, std::uint32_t first_line, std::uint64_t instructions = 8) {
    const Address lines = take(layout.bytes_data + 2 * instructions);
    memory.put(lines + layout.bytes_length, 2 * instructions);
    for (std::uint64_t i = 0; i < instructions; ++i) {
      memory.put(lines + layout.bytes_data + 2 * i, std::uint8_t{0x80 | 13 << 3});      // one instruction, without columns ...
      memory.put(lines + layout.bytes_data + 2 * i + 1, std::uint8_t(i == 0 ? 0 : 2));  // ... one line further
    }
    const Address address = take(layout.code_instructions + 2 * instructions);
    memory.put(address + layout.object_type, type_);
    memory.put(address + 16, instructions);
    memory.put(address + layout.code_name, text(function));
    memory.put(address + layout.code_file, text(file));
    memory.put(address + layout.code_first_line, first_line);
    memory.put(address + layout.code_line_table, lines);
    return address;
  }
  // A call at the n-th instruction of the code.
  Address frame(Address code, std::int64_t instruction, Address caller) {
    const Address address = take(layout.frame_size);
    memory.put(address + layout.frame_code, code);
    memory.put(address + layout.frame_instruction, code + layout.code_instructions + static_cast<Address>(2 * instruction));
    memory.put(address + layout.frame_previous, caller);
    return address;
  }
  // Makes a frame run copy `number` of its code, at the same instruction.
  void run_copy(Address frame, Address code, std::int32_t number) {
    const Address copies = take(8 * (2 + static_cast<Address>(number)));
    const Address copy = take(256);
    memory.put(copies, std::int64_t{number + 1});
    memory.put(copies + 8, code + layout.code_instructions);
    memory.put(copies + 8 * (1 + static_cast<Address>(number)), copy);
    memory.put(code + layout.code_copies, copies);
    Address instruction = 0;
    std::memcpy(&instruction, at(frame + layout.frame_instruction), sizeof(instruction));
    memory.put(frame + layout.frame_instruction, copy + (instruction - code - layout.code_instructions));
    memory.put(frame + layout.frame_copy, number);
  }
  // A frame of native code, which called the frames that it calls.
  Address native_frame(Address caller) {
    const Address address = take(layout.frame_size);
    memory.put(address + static_cast<Address>(layout.frame_owner), layout.first_owner_of_c);
    memory.put(address + layout.frame_previous, caller);
    return address;
  }
  // `c_frame`: its place on the thread's native stack; 0: anywhere.
  Address thread(std::uint64_t number, Address innermost, Address c_frame = 0) {
    const Address address = take(layout.thread_size);
    if (c_frame == 0) c_frame = take(16);
    memory.put(c_frame + static_cast<Address>(layout.frame_of_c_frame), innermost);
    memory.put(address + layout.thread_interpreter, interpreter_);
    memory.put(address + layout.thread_number, number);
    memory.put(address + layout.thread_frame, c_frame);
    memory.put(address + layout.thread_next, last_thread_);
    memory.put(interpreter_ + layout.interpreter_threads, address);
    last_thread_ = address;
    return address;
  }
  Address take(std::uint64_t size) {
    const Address address = next_;
    next_ += (size + 15) & ~std::uint64_t{15};
    return address;
  }
  [[nodiscard]] Address used() const { return next_ - FakeMemory::kBase; }

  FakeMemory memory;
  python::Layout layout;
  static constexpr Address runtime = FakeMemory::kBase + 64;

 private:
  std::byte* at(Address address) { return memory.bytes.data() + (address - FakeMemory::kBase); }

  Address next_ = runtime + 256;
  Address interpreter_ = 0;
  Address type_ = 0;
  Address last_thread_ = 0;
};

}  // namespace lanescope::test
