// Reads from the memory of a CPython process what its threads are doing, in all of its interpreters, while it runs on.
//
// The threads do not stop for this. A stack is read within some microseconds, in which frames may come and go. A stack whose parts do not fit
// together is dropped and counted. So is a stack that took longer to read, for example because all processors are busy, and was different at the end.
// What was read of code objects is kept, and checked each time against the memory. The places of frames are remembered, so that a reading takes few
// system calls.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/python/stacks.h"
#include "layout.h"
#include "memory.h"

namespace lanescope::python {

// The functions that were seen, each once; they are never removed. Beyond a limit, which only a program that invents names reaches, all functions are
// one function, "[further functions]".
class FunctionTable {
 public:
  const Function* intern(Function function) {
    constexpr std::size_t kMostBytes = 128u << 20;
    constexpr std::size_t kOverhead = sizeof(Function) + 64;
    if (const auto known = functions_.find(function); known != functions_.end()) return &*known;
    const std::size_t bytes = function.name.size() + function.source_file.size() + kOverhead;
    if (bytes_ + bytes > kMostBytes) return &others_;
    bytes_ += bytes;
    return &*functions_.insert(std::move(function)).first;
  }

 private:
  std::set<Function> functions_;
  std::size_t bytes_ = 0;
  const Function others_{"[further functions]", {}, 0};
};

struct ThreadStack {
  std::uint64_t thread = 0;  // see Layout::thread_number
  Stack stack;               // empty if the thread runs no Python code
};

class StackReader {
 public:
  // `runtime`: the address of _PyRuntime.
  StackReader(Memory& memory, const Layout& layout, std::uint64_t runtime, FunctionTable& functions);

  enum class Outcome {
    kRead,
    kNoThreads,   // the interpreter has not started, or has ended
    kUnreadable,  // its memory can't be read, or is not that of an interpreter
  };
  // Reads all threads whose stacks could be read, each once.
  Outcome read(std::vector<ThreadStack>& threads);

  [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }          // stacks that were dropped
  [[nodiscard]] std::uint64_t nonsense() const noexcept { return nonsense_; }  // of those, stacks that may not be stacks at all
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

 private:
  using Address = std::uint64_t;
  // Pieces of memory of one kind, by address. Pieces that were used in one reading are read at the start of the next.
  static constexpr std::size_t kBlockOverhead = 96;  // bytes
  struct Block {
    Address address = 0;
    std::vector<std::byte> bytes;
    std::uint64_t read_in = 0;  // the reading in which it was last read ...
    std::uint64_t used_in = 0;  // ... and last used
  };
  struct Blocks {
    std::uint32_t size = 0;
    std::unordered_map<Address, Block> at;
    [[nodiscard]] std::size_t bytes() const noexcept { return at.size() * (size + kBlockOverhead); }
  };
  struct Code {
    Address name = 0;
    Address file = 0;
    Address line_table = 0;
    std::uint32_t first_line = 0;
    const Function* function = nullptr;  // null: this is not a code object
    std::vector<LineRange> lines;
  };
  struct Walk {
    std::uint64_t thread = 0;
    Address innermost_at = 0;  // address of the thread's pointer to the innermost frame
    Address innermost = 0;
    Address next = 0;   // next frame to read; 0 after the outermost
    Address place = 0;  // address on the thread's native stack, which grows down, that belongs to the innermost run of the loop; 0: not known
    std::vector<const Block*> frames;
    bool is_torn = false;
    bool has_changed = false;  // since it was read
  };

  void read_what_was_of_use();
  void fetch(Blocks& blocks, const std::vector<Address>& addresses);
  // Null if it was not, or could not be, read in this reading.
  const Block* find(Blocks& blocks, Address address);
  const Block* fetch(Blocks& blocks, Address address);
  template <typename Value>
  std::optional<Value> word(Address address);

  Outcome find_threads();
  // Returns false if the list could not be followed to its end.
  bool find_threads_of(Address interpreter, Address head);
  void walk_frames();
  // Finds the stacks that have changed since they were read.
  void compare_with_now();
  enum class Call { kInnermost, kCallsAnother };
  [[nodiscard]] bool is_same_call(const Block& frame, std::span<const std::byte> now, Call call) const;
  void join_interpreters();
  void fetch_code();
  bool describe(const Walk& walk, Stack& stack);
  [[nodiscard]] bool is_of_native_code(const Block& frame) const;
  [[nodiscard]] Address code_of(const Block& frame) const;
  Address instructions_of(const Block& frame, Address code);
  const Code* code_at(Address address);
  bool is_code(const Block& object);
  Code read_code(const Block& object);
  std::string text(Address address);

  Memory& memory_;
  Layout layout_;
  Address runtime_;
  FunctionTable& functions_;
  std::uint64_t reading_ = 0;  // number of the current reading
  std::uint64_t torn_ = 0;
  std::uint64_t nonsense_ = 0;
  Address code_type_ = 0;
  Blocks words_;
  Blocks threads_;
  Blocks frames_;
  Blocks code_;
  // Of the current reading:
  std::size_t interpreters_ = 0;
  std::size_t read_pieces_ = 0;
  std::vector<Walk> walks_;
  std::unordered_map<Address, Code> codes_;  // known code objects
  std::size_t code_bytes_ = 0;               // their approximate size
  std::vector<Piece> pieces_;
};

}  // namespace lanescope::python
