// Reads what the threads of a process that runs CPython are doing, in all of its interpreters, from its memory, while it runs on.
//
// The threads do not stop for it: a stack is read within some microseconds, in which frames may come and go. A stack whose parts do not
// fit together is dropped and counted. So is one that took longer to read, as where all processors are busy, and was another at the end. What it has read of
// code objects is kept, and checked each time against what is there now; the places of frames are remembered, so that a reading takes few system calls.
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

// Functions that were seen, each once; they stay. Beyond a limit, which no program reaches that does not make up names, all are the same
// one, called "[further functions]".
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
  Stack stack;               // empty where it runs no Python code
};

class StackReader {
 public:
  // `runtime`: the address of _PyRuntime.
  StackReader(Memory& memory, const Layout& layout, std::uint64_t runtime, FunctionTable& functions);

  enum class Outcome {
    kRead,
    kNoThreads,   // the interpreter has not begun, or has ended
    kUnreadable,  // its memory can't be read, or is no interpreter's
  };
  // All threads whose stacks could be read, each once.
  Outcome read(std::vector<ThreadStack>& threads);

  [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }          // stacks that were dropped
  [[nodiscard]] std::uint64_t nonsense() const noexcept { return nonsense_; }  // of those, what may be no stacks at all
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

 private:
  using Address = std::uint64_t;
  // Pieces of memory of one sort, by where they lie. What was of use in one reading is read at the begin of the next.
  static constexpr std::size_t kBlockOverhead = 96;  // bytes
  struct Block {
    Address address = 0;
    std::vector<std::byte> bytes;
    std::uint64_t read_in = 0;  // the reading in which it was last read ...
    std::uint64_t used_in = 0;  // ... and was of use
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
    const Function* function = nullptr;  // null: this is no code object
    std::vector<LineRange> lines;
  };
  struct Walk {
    std::uint64_t thread = 0;
    Address innermost_at = 0;  // where the thread says which frame that is
    Address innermost = 0;
    Address next = 0;   // frame; 0 behind the outermost
    Address place = 0;  // of something of the innermost run of the loop on the thread's native stack, which grows down; 0: not known
    std::vector<const Block*> frames;
    bool is_torn = false;
    bool has_changed = false;  // since it was read
  };

  void read_what_was_of_use();
  void fetch(Blocks& blocks, const std::vector<Address>& addresses);
  // Null where this reading has not read it, or could not.
  const Block* find(Blocks& blocks, Address address);
  const Block* fetch(Blocks& blocks, Address address);
  template <typename Value>
  std::optional<Value> word(Address address);

  Outcome find_threads();
  // False where the list could not be followed to its end.
  bool find_threads_of(Address interpreter, Address head);
  void walk_frames();
  // Finds the stacks that are no longer what was read.
  void compare_with_now();
  [[nodiscard]] bool is_same_call(const Block& frame, std::span<const std::byte> now, bool is_innermost) const;
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
  std::uint64_t reading_ = 0;  // number of the reading under way
  std::uint64_t torn_ = 0;
  std::uint64_t nonsense_ = 0;
  Address code_type_ = 0;
  Blocks words_;
  Blocks threads_;
  Blocks frames_;
  Blocks code_;
  // Of the reading under way:
  std::size_t interpreters_ = 0;
  std::size_t read_pieces_ = 0;
  std::vector<Walk> walks_;
  std::unordered_map<Address, Code> codes_;  // what is known of code objects
  std::size_t code_bytes_ = 0;               // about what that takes
  std::vector<Piece> pieces_;
};

}  // namespace lanescope::python
