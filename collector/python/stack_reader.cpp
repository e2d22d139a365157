#include "stack_reader.h"

#include <algorithm>

#include "collector/channel/clock.h"

namespace lanescope::python {
namespace {

constexpr std::size_t kMaximumThreads = 1024;
constexpr std::size_t kMaximumInterpreters = 1024;
constexpr std::size_t kMaximumDepth = 2048;          // frames of a thread
constexpr std::size_t kMaximumText = 512;            // characters of a name
constexpr std::size_t kMaximumLineTable = 1u << 20;  // bytes
constexpr std::size_t kMaximumCode = 64u << 20;      // bytes of code objects that are kept
constexpr std::size_t kMaximumBlocks = 64u << 20;    // bytes of one kind of block
constexpr std::uint64_t kRemembered = 32;            // readings for which a block is still read although it was not used
constexpr std::uint64_t kTagBits = 7;                // of pointers to objects; 3.14 and newer use these bits for marks
constexpr std::uint32_t kCodeUnit = 2;               // bytes of an instruction
constexpr std::uint64_t kLowestAddress = 4096;
constexpr std::int64_t kMoment = 50'000;      // ns that a reading takes unless it is delayed ...
constexpr std::int64_t kMomentOfPiece = 250;  // ... plus this for each piece of memory; the kernel copies a piece in about 50 ns

void append_utf8(std::string& text, std::uint32_t letter) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto rest = [&](unsigned shift) { put(0x80 | ((letter >> shift) & 0x3f)); };
  if (letter < 0x20 || letter == 0x7f || (letter >= 0xd800 && letter < 0xe000) || letter > 0x10ffff) {
    text += '?';
  } else if (letter < 0x80) {
    put(letter);
  } else if (letter < 0x800) {
    put(0xc0 | letter >> 6);
    rest(0);
  } else if (letter < 0x10000) {
    put(0xe0 | letter >> 12);
    rest(6);
    rest(0);
  } else {
    put(0xf0 | letter >> 18);
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace

StackReader::StackReader(Memory& memory, const Layout& layout, std::uint64_t runtime, FunctionTable& functions)
    : memory_(memory), layout_(layout), runtime_(runtime), functions_(functions) {
  words_.size = sizeof(std::uint64_t);
  threads_.size = layout.thread_size;
  frames_.size = layout.frame_size;
  code_.size = layout.code_size;
}

// ---- Memory ----------------------------------------------------------------------------------------------------------------------

void StackReader::read_what_was_of_use() {
  pieces_.clear();
  for (Blocks* blocks : {&words_, &threads_, &frames_, &code_}) {
    std::erase_if(blocks->at, [&](const auto& entry) { return entry.second.used_in + kRemembered < reading_; });
    for (auto& [address, block] : blocks->at) pieces_.push_back({address, std::span(block.bytes)});
  }
  memory_.read(pieces_);
  read_pieces_ = pieces_.size();
  std::size_t piece = 0;
  for (Blocks* blocks : {&words_, &threads_, &frames_, &code_})
    for (auto& [address, block] : blocks->at)
      if (pieces_[piece++].was_read) block.read_in = reading_;
}

void StackReader::fetch(Blocks& blocks, const std::vector<Address>& addresses) {
  pieces_.clear();
  for (const Address address : addresses) {
    if (blocks.bytes() > kMaximumBlocks) break;
    Block& block = blocks.at[address];
    block.address = address;
    block.bytes.resize(blocks.size);
    block.used_in = reading_;
    pieces_.push_back({address, std::span(block.bytes)});
  }
  memory_.read(pieces_);
  read_pieces_ += pieces_.size();
  for (const Piece& piece : pieces_) {
    if (piece.was_read)
      blocks.at[piece.address].read_in = reading_;
    else
      blocks.at.erase(piece.address);
  }
}

const StackReader::Block* StackReader::find(Blocks& blocks, Address address) {
  const auto found = blocks.at.find(address);
  if (found == blocks.at.end() || found->second.read_in != reading_) return nullptr;
  found->second.used_in = reading_;
  return &found->second;
}

const StackReader::Block* StackReader::fetch(Blocks& blocks, Address address) {
  if (const Block* known = find(blocks, address)) return known;
  fetch(blocks, std::vector{address});
  return find(blocks, address);
}

template <typename Value>
std::optional<Value> StackReader::word(Address address) {
  const Block* block = fetch(words_, address);
  if (block == nullptr) return std::nullopt;
  return field<Value>(block->bytes, 0);
}

// ---- Threads and frames ----------------------------------------------------------------------------------------------------------

StackReader::Outcome StackReader::read(std::vector<ThreadStack>& threads) {
  threads.clear();
  walks_.clear();
  ++reading_;
  const std::int64_t begin = channel::monotonic_now();
  read_what_was_of_use();
  if (const Outcome outcome = find_threads(); outcome != Outcome::kRead) return outcome;
  walk_frames();
  if (channel::monotonic_now() - begin > kMoment + kMomentOfPiece * static_cast<std::int64_t>(read_pieces_)) compare_with_now();
  if (interpreters_ > 1) join_interpreters();
  fetch_code();
  for (const Walk& walk : walks_) {
    ThreadStack read{walk.thread, {}};
    const bool makes_sense = !walk.is_torn && describe(walk, read.stack);
    if (makes_sense && !walk.has_changed) {
      threads.push_back(std::move(read));
      continue;
    }
    ++torn_;
    nonsense_ += makes_sense || walk.has_changed ? 0 : 1;
  }
  return Outcome::kRead;
}

StackReader::Outcome StackReader::find_threads() {
  std::optional<Address> interpreter = word<Address>(runtime_ + layout_.runtime_interpreters);
  if (!interpreter) return Outcome::kUnreadable;
  bool is_cut = false;  // elements can leave a list while it is followed
  for (interpreters_ = 0; interpreter && *interpreter != 0 && interpreters_ < kMaximumInterpreters; ++interpreters_) {
    const std::optional<Address> head = word<Address>(*interpreter + layout_.interpreter_threads);
    is_cut = is_cut || !head || !find_threads_of(*interpreter, *head);
    interpreter = word<Address>(*interpreter + layout_.interpreter_next);
  }
  is_cut = is_cut || !interpreter;
  if (walks_.empty()) return is_cut ? Outcome::kUnreadable : Outcome::kNoThreads;
  // With several interpreters, a thread's frames in another interpreter may be missing. With only one, the threads that were found are read.
  if (is_cut && interpreters_ > 1)
    for (Walk& walk : walks_) walk.is_torn = true;
  return Outcome::kRead;
}

bool StackReader::find_threads_of(Address interpreter, Address head) {
  for (Address address = head; address != 0 && walks_.size() < kMaximumThreads;) {
    const Block* thread = fetch(threads_, address);
    if (thread == nullptr || field<Address>(thread->bytes, layout_.thread_interpreter) != interpreter) return false;
    Walk walk;
    walk.thread = field<std::uint64_t>(thread->bytes, layout_.thread_number);
    walk.innermost_at = address + layout_.thread_frame;
    walk.next = field<Address>(thread->bytes, layout_.thread_frame);
    if (layout_.frame_of_c_frame >= 0) {
      walk.place = walk.next;
      walk.innermost_at = walk.next + static_cast<std::uint64_t>(layout_.frame_of_c_frame);
      const std::optional<Address> frame = word<Address>(walk.innermost_at);
      walk.is_torn = !frame;
      walk.next = frame.value_or(0);
    }
    walk.innermost = walk.next;
    walks_.push_back(std::move(walk));
    address = field<Address>(thread->bytes, layout_.thread_next);
  }
  return true;
}

void StackReader::walk_frames() {
  std::vector<Address> missing;
  do {
    missing.clear();
    for (Walk& walk : walks_) {
      while (walk.next != 0 && !walk.is_torn) {
        const Block* frame = find(frames_, walk.next);
        if (frame == nullptr) {
          missing.push_back(walk.next);
          break;
        }
        if (walk.place == 0 && is_of_native_code(*frame)) walk.place = walk.next;
        walk.frames.push_back(frame);
        walk.next = field<Address>(frame->bytes, layout_.frame_previous);
        if (walk.frames.size() > kMaximumDepth) walk.is_torn = true;  // or the frames form a circle
      }
    }
    std::erase_if(missing, [](Address address) { return address < kLowestAddress; });
    if (!missing.empty()) fetch(frames_, missing);
    for (Walk& walk : walks_)
      if (walk.next != 0 && find(frames_, walk.next) == nullptr) walk.is_torn = true;
  } while (!missing.empty());
}

void StackReader::compare_with_now() {
  std::vector<Piece> pieces;
  std::size_t frames = 0;
  for (const Walk& walk : walks_) frames += walk.frames.size();
  std::vector<std::byte> bytes(walks_.size() * sizeof(Address) + frames * layout_.frame_size);
  std::span<std::byte> left = bytes;
  const auto add = [&](Address address, std::size_t size) {
    pieces.push_back({address, left.first(size)});
    left = left.subspan(size);
  };
  for (const Walk& walk : walks_) {
    add(walk.innermost_at, sizeof(Address));
    for (const Block* frame : walk.frames) add(frame->address, layout_.frame_size);
  }
  memory_.read(pieces);
  auto piece = pieces.begin();
  for (Walk& walk : walks_) {
    bool is_same = piece->was_read && field<Address>(piece->into, 0) == walk.innermost;
    ++piece;
    for (const Block* frame : walk.frames) {
      is_same = is_same && piece->was_read && is_same_call(*frame, piece->into, frame == walk.frames.front() ? Call::kInnermost : Call::kCallsAnother);
      ++piece;
    }
    walk.has_changed = !is_same;
  }
}

// The innermost call continues meanwhile; every other call must still be at the instruction that called the next.
bool StackReader::is_same_call(const Block& frame, std::span<const std::byte> now, Call call) const {
  const auto is_same_field = [&](std::uint64_t offset, std::size_t size) {
    return offset + size > frame.bytes.size() || std::memcmp(frame.bytes.data() + offset, now.data() + offset, size) == 0;
  };
  if (!is_same_field(layout_.frame_previous, sizeof(Address))) return false;
  if (is_of_native_code(frame)) return layout_.frame_owner < 0 || is_same_field(static_cast<std::uint64_t>(layout_.frame_owner), 1);
  const std::size_t instruction = layout_.code_instructions != 0 ? sizeof(Address) : sizeof(std::int32_t);
  return is_same_field(layout_.frame_code, sizeof(Address)) && (call == Call::kInnermost || is_same_field(layout_.frame_instruction, instruction));
}

// A thread that calls into another interpreter has frames in both. They are one stack, whose inner part is at lower addresses of its native stack. If
// the places are not known, the newer interpreter, which comes first, is taken to be called from the older one.
void StackReader::join_interpreters() {
  std::stable_sort(walks_.begin(), walks_.end(), [](const Walk& a, const Walk& b) { return a.thread != b.thread ? a.thread < b.thread : a.place < b.place; });
  std::vector<Walk> joined;
  for (Walk& walk : walks_) {
    if (joined.empty() || joined.back().thread != walk.thread) {
      joined.push_back(std::move(walk));
      continue;
    }
    joined.back().frames.insert(joined.back().frames.end(), walk.frames.begin(), walk.frames.end());
    joined.back().is_torn = joined.back().is_torn || walk.is_torn;
    joined.back().has_changed = joined.back().has_changed || walk.has_changed;
  }
  walks_ = std::move(joined);
}

bool StackReader::is_of_native_code(const Block& frame) const {
  return layout_.frame_owner >= 0 && field<std::uint8_t>(frame.bytes, static_cast<std::uint64_t>(layout_.frame_owner)) >= layout_.first_owner_of_c;
}

StackReader::Address StackReader::code_of(const Block& frame) const { return field<Address>(frame.bytes, layout_.frame_code) & ~kTagBits; }

// Address of the instructions that the frame runs; 0 if it can't be read. Threads that run concurrently each have a copy, which they may change. The
// first copy is the code object's own.
StackReader::Address StackReader::instructions_of(const Block& frame, Address code) {
  const auto copy = layout_.frame_copy != 0 ? field<std::int32_t>(frame.bytes, layout_.frame_copy) : 0;
  if (copy == 0) return code + layout_.code_instructions;
  const auto copies = field<Address>(find(code_, code)->bytes, layout_.code_copies);
  return word<Address>(copies + (1 + static_cast<Address>(copy)) * sizeof(Address)).value_or(0);
}

void StackReader::fetch_code() {
  std::vector<Address> missing;
  for (const Walk& walk : walks_)
    for (const Block* frame : walk.frames)
      if (!is_of_native_code(*frame) && find(code_, code_of(*frame)) == nullptr) missing.push_back(code_of(*frame));
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  if (!missing.empty()) fetch(code_, missing);
}

bool StackReader::describe(const Walk& walk, Stack& stack) {
  for (const Block* frame : walk.frames) {
    if (is_of_native_code(*frame)) {
      if (!stack.empty()) stack.back().is_entry = true;
      continue;
    }
    const Address address = code_of(*frame);
    const Code* code = code_at(address);
    if (code == nullptr || code->function == nullptr) return false;
    std::int64_t offset = 0;
    if (layout_.code_instructions != 0) {
      offset = static_cast<std::int64_t>(field<Address>(frame->bytes, layout_.frame_instruction) - instructions_of(*frame, address));
      const auto count = field<std::int64_t>(find(code_, address)->bytes, layout_.object_count);
      if (offset < -std::int64_t{kCodeUnit} || offset / kCodeUnit > count) return false;  // an instruction of other code
    } else {
      offset = std::int64_t{field<std::int32_t>(frame->bytes, layout_.frame_instruction)} * layout_.instruction_unit;
    }
    const std::uint32_t line = offset < 0 ? code->first_line : line_at(code->lines, static_cast<std::uint32_t>(offset), code->first_line);
    const bool is_frame_object = layout_.code_instructions == 0;
    const bool is_marked = layout_.frame_is_entry >= 0 && field<std::uint8_t>(frame->bytes, static_cast<std::uint64_t>(layout_.frame_is_entry)) != 0;
    stack.push_back({code->function, line, is_frame_object || is_marked});
  }
  if (!stack.empty()) stack.back().is_entry = true;
  return true;
}

// ---- Code objects ----------------------------------------------------------------------------------------------------------------

const StackReader::Code* StackReader::code_at(Address address) {
  const Block* object = find(code_, address);
  if (object == nullptr) return nullptr;
  const auto known = codes_.find(address);
  const bool is_same = known != codes_.end() && known->second.function != nullptr && field<Address>(object->bytes, layout_.object_type) == code_type_ &&
                       known->second.name == field<Address>(object->bytes, layout_.code_name) &&
                       known->second.file == field<Address>(object->bytes, layout_.code_file) &&
                       known->second.line_table == field<Address>(object->bytes, layout_.code_line_table) &&
                       known->second.first_line == field<std::uint32_t>(object->bytes, layout_.code_first_line);
  if (is_same) return &known->second;
  if (code_bytes_ >= kMaximumCode) {
    codes_.clear();
    code_bytes_ = 0;
  }
  Code& code = codes_[address] = read_code(*object);
  code_bytes_ += sizeof(Code) + kBlockOverhead + code.lines.size() * sizeof(LineRange);
  return &code;
}

bool StackReader::is_code(const Block& object) {
  const auto type = field<Address>(object.bytes, layout_.object_type);
  if (code_type_ != 0) return type == code_type_;
  constexpr char kName[] = "code";
  const std::optional<Address> name = memory_.read<Address>(type + layout_.type_name);
  char letters[sizeof(kName)] = {};
  if (!name || !memory_.read(*name, std::as_writable_bytes(std::span(letters)))) return false;
  if (std::memcmp(letters, kName, sizeof(kName)) != 0) return false;
  code_type_ = type;
  return true;
}

StackReader::Code StackReader::read_code(const Block& object) {
  Code code;
  if (!is_code(object)) return code;
  code.name = field<Address>(object.bytes, layout_.code_name);
  code.file = field<Address>(object.bytes, layout_.code_file);
  code.line_table = field<Address>(object.bytes, layout_.code_line_table);
  code.first_line = field<std::uint32_t>(object.bytes, layout_.code_first_line);
  Function function{text(code.name), text(code.file), code.first_line};
  const auto size = memory_.read<std::uint64_t>(code.line_table + layout_.bytes_length);
  if (function.name.empty() || !size || *size > kMaximumLineTable) return code;
  std::vector<std::byte> table(*size);
  if (!memory_.read(code.line_table + layout_.bytes_data, table)) return code;
  code.lines = decode_lines(layout_.lines, table, code.first_line);
  code.function = functions_.intern(std::move(function));
  return code;
}

std::string StackReader::text(Address address) {
  constexpr unsigned kKindMask = 7;  // two marks are in the bits above
  constexpr unsigned kCompact = 1u << 3;
  constexpr unsigned kAscii = 1u << 4;
  const auto length = memory_.read<std::uint64_t>(address + layout_.text_length);
  const auto marks = memory_.read<std::uint32_t>(address + layout_.text_state);
  if (!length || !marks) return {};
  const std::uint32_t state = *marks >> layout_.text_kind_shift;
  if ((state & kCompact) == 0) return {};
  const bool is_ascii = (state & kAscii) != 0;
  const std::size_t width = state & kKindMask;
  if (width != 1 && width != 2 && width != 4) return {};
  std::vector<std::byte> letters(std::min<std::uint64_t>(*length, kMaximumText) * width);
  if (letters.empty() || !memory_.read(address + (is_ascii ? layout_.text_ascii_data : layout_.text_data), letters)) return {};
  std::string text;
  for (std::size_t at = 0; at < letters.size(); at += width) {
    std::uint32_t letter = 0;
    std::memcpy(&letter, letters.data() + at, width);  // little-endian, as all machines with these layouts are
    append_utf8(text, letter);
  }
  return text;
}

}  // namespace lanescope::python
