// Stacks of interpreters whose memory is built by hand, and of damaged ones.
#include <chrono>
#include <set>

#include "fake_interpreter.h"
#include "stack_reader.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::python;
using test::FakeInterpreter;
using test::FakeMemory;

namespace {

using Outcome = StackReader::Outcome;

struct Read {
  Outcome outcome;
  std::vector<ThreadStack> threads;
};
Read read(StackReader& reader) {
  Read result;
  result.outcome = reader.read(result.threads);
  return result;
}

std::vector<std::string> text(const Stack& stack) {
  std::vector<std::string> calls;
  for (const Frame& frame : stack)
    calls.push_back(frame.function->name + " " + frame.function->source_file + ":" + std::to_string(frame.line) + (frame.is_entry ? " entry" : ""));
  return calls;
}
using Calls = std::vector<std::string>;

// Two threads: one is four calls deep in two runs of the loop, one runs no Python code.
struct Example {
  Example() {
    const auto module = interpreter.frame(interpreter.code("<module>", "/srv/train.py", 1), 7, interpreter.native_frame(0));
    const auto top = interpreter.frame(interpreter.code("top", "/srv/train.py", 10), 2, module);
    load = interpreter.code("Loader.load", "/srv/loader.py", 30);
    innermost = interpreter.frame(load, 5, interpreter.frame(load, 1, interpreter.native_frame(top)));
    interpreter.thread(4711, innermost);
    interpreter.thread(4712, 0);
  }
  FakeInterpreter interpreter;
  FakeInterpreter::Address load = 0;
  FakeInterpreter::Address innermost = 0;
  FunctionTable functions;
  StackReader reader{interpreter.memory, interpreter.layout, FakeInterpreter::runtime, functions};
};

const Calls kExample{"Loader.load /srv/loader.py:35", "Loader.load /srv/loader.py:31 entry", "top /srv/train.py:12", "<module> /srv/train.py:8 entry"};

}  // namespace

TEST_CASE("each thread's calls are read with their lines, and which of them native code made") {
  Example example;
  const Read result = read(example.reader);
  REQUIRE(result.outcome == Outcome::kRead);
  REQUIRE(result.threads.size() == 2);
  CHECK(result.threads[0].thread == 4712);
  CHECK(result.threads[0].stack.empty());
  CHECK(result.threads[1].thread == 4711);
  CHECK(text(result.threads[1].stack) == kExample);
  CHECK(example.reader.torn() == 0);
}

TEST_CASE("what was seen before is read at one go") {
  Example example;
  read(example.reader);
  // A reading that is held up is compared with what is there at its end, which takes another call.
  std::set<std::size_t> calls;
  for (int i = 0; i < 1000; ++i) {
    example.interpreter.memory.calls = 0;
    CHECK(text(read(example.reader).threads[1].stack) == kExample);
    calls.insert(example.interpreter.memory.calls);
  }
  CHECK(*calls.begin() == 1);
  CHECK(*calls.rbegin() <= 2);
}

TEST_CASE("code that is made where other code was is known by its own name") {
  Example example;
  read(example.reader);
  FakeInterpreter& interpreter = example.interpreter;
  interpreter.memory.put(example.load + interpreter.layout.code_name, interpreter.text("other"));
  interpreter.memory.put(example.load + interpreter.layout.code_first_line, std::uint32_t{100});
  CHECK(text(read(example.reader).threads[1].stack) == Calls{"other /srv/loader.py:105", "other /srv/loader.py:101 entry", kExample[2], kExample[3]});
}

TEST_CASE("a frame that runs a copy of its code has the copy's lines, and none where it is in no copy") {
  FakeInterpreter interpreter;
  interpreter.have_copies();
  const auto module = interpreter.frame(interpreter.code("<module>", "/srv/train.py", 1), 7, 0);
  const auto load = interpreter.code("load", "/srv/loader.py", 30);
  const auto frame = interpreter.frame(load, 5, module);
  interpreter.run_copy(frame, load, 3);
  interpreter.thread(4711, frame);
  FunctionTable functions;
  StackReader reader(interpreter.memory, interpreter.layout, FakeInterpreter::runtime, functions);
  for (int i = 0; i < 2; ++i) CHECK(text(read(reader).threads.at(0).stack) == Calls{"load /srv/loader.py:35", "<module> /srv/train.py:8 entry"});
  const std::int32_t wrong = GENERATE(0, 1, 2, -1, 0x7fff'ffff);
  interpreter.memory.put(frame + interpreter.layout.frame_copy, wrong);
  CHECK(read(reader).threads.empty());
  CHECK(reader.torn() == 1);
}

TEST_CASE("threads of all interpreters are read, and one that is in several has one stack, by where it stands on the native stack") {
  const bool newer_is_called = GENERATE(true, false);
  CAPTURE(newer_is_called);
  FakeInterpreter interpreter;
  const auto lower = interpreter.take(16);
  const auto higher = interpreter.take(16);
  const auto call = [&](const char* function) { return interpreter.frame(interpreter.code(function, "/srv/main.py", 1), 0, interpreter.native_frame(0)); };
  interpreter.thread(4711, call("older"), newer_is_called ? higher : lower);
  interpreter.thread(4712, call("alone"));
  interpreter.begin_interpreter();
  interpreter.thread(4713, call("of newer"));
  interpreter.thread(4711, call("newer"), newer_is_called ? lower : higher);
  FunctionTable functions;
  StackReader reader(interpreter.memory, interpreter.layout, FakeInterpreter::runtime, functions);
  const Read result = read(reader);
  REQUIRE(result.threads.size() == 3);
  CHECK(result.threads[0].thread == 4711);
  CHECK(text(result.threads[0].stack) == (newer_is_called ? Calls{"newer /srv/main.py:1 entry", "older /srv/main.py:1 entry"}
                                                          : Calls{"older /srv/main.py:1 entry", "newer /srv/main.py:1 entry"}));
  CHECK(text(result.threads[1].stack) == Calls{"alone /srv/main.py:1 entry"});
  CHECK(text(result.threads[2].stack) == Calls{"of newer /srv/main.py:1 entry"});
}

TEST_CASE("half a stack of a thread in two interpreters is none, and where a list is cut all that may be half") {
  FakeInterpreter interpreter;
  const auto module = interpreter.frame(interpreter.code("<module>", "/srv/main.py", 1), 0, interpreter.native_frame(0));
  const auto thread = interpreter.thread(4711, module);
  interpreter.begin_interpreter();
  const auto other = interpreter.frame(interpreter.code("other", "/srv/main.py", 1), 0, interpreter.native_frame(0));
  interpreter.thread(4711, other);
  FunctionTable functions;
  StackReader reader(interpreter.memory, interpreter.layout, FakeInterpreter::runtime, functions);
  CHECK(read(reader).threads.size() == 1);
  const std::string damage = GENERATE("frame", "no memory", "other without memory", "thread");
  CAPTURE(damage);
  if (damage == "frame") interpreter.memory.put(module + interpreter.layout.frame_code, FakeInterpreter::runtime);
  if (damage == "no memory") interpreter.memory.put(module + interpreter.layout.frame_previous, std::uint64_t{0xdead'0000});
  if (damage == "other without memory") interpreter.memory.put(other + interpreter.layout.frame_previous, std::uint64_t{0xdead'0000});
  if (damage == "thread") interpreter.memory.put(thread + interpreter.layout.thread_interpreter, std::uint64_t{0});
  const Read result = read(reader);
  CHECK(result.outcome == Outcome::kRead);
  CHECK(result.threads.empty());
  CHECK(reader.torn() == 1);
}

TEST_CASE("an interpreter without threads has not begun, and memory that is gone can't be read") {
  Example example;
  example.interpreter.memory.put(FakeInterpreter::runtime + example.interpreter.layout.runtime_interpreters, std::uint64_t{0});
  CHECK(read(example.reader).outcome == Outcome::kNoThreads);
  StackReader elsewhere(example.interpreter.memory, example.interpreter.layout, 0x1234, example.functions);
  CHECK(read(elsewhere).outcome == Outcome::kUnreadable);
}

TEST_CASE("a stack whose parts do not fit together is dropped and counted, and the other threads' are read") {
  Example example;
  FakeInterpreter& interpreter = example.interpreter;
  const Layout& layout = interpreter.layout;
  const std::string damage = GENERATE("circle", "no memory", "no code", "other instruction", "null page");
  CAPTURE(damage);
  if (damage == "circle") interpreter.memory.put(example.innermost + layout.frame_previous, example.innermost);
  if (damage == "no memory") interpreter.memory.put(example.innermost + layout.frame_previous, std::uint64_t{0xdead'0000});
  if (damage == "null page") interpreter.memory.put(example.innermost + layout.frame_previous, std::uint64_t{8});
  if (damage == "no code") interpreter.memory.put(example.innermost + layout.frame_code, FakeInterpreter::runtime);
  if (damage == "other instruction") interpreter.memory.put(example.innermost + layout.frame_instruction, std::uint64_t{0x5000'0001});
  for (int i = 1; i <= 3; ++i) {
    const Read result = read(example.reader);
    REQUIRE(result.outcome == Outcome::kRead);
    REQUIRE(result.threads.size() == 1);
    CHECK(result.threads[0].thread == 4712);
    CHECK(example.reader.torn() == static_cast<std::uint64_t>(i));
  }
}

TEST_CASE("a stack that took long to read is dropped where it was another at the end, and kept where it was the same") {
  Example example;
  FakeInterpreter& interpreter = example.interpreter;
  const Layout& layout = interpreter.layout;
  read(example.reader);
  const std::string change = GENERATE("none", "innermost goes on", "caller", "called from elsewhere", "innermost is another");
  CAPTURE(change);
  std::uint64_t outer = 0;
  std::memcpy(&outer, interpreter.memory.bytes.data() + (example.innermost + layout.frame_previous - FakeMemory::kBase), sizeof(outer));
  const auto change_it = [&] {
    if (change == "innermost goes on") interpreter.memory.put(example.innermost + layout.frame_instruction, example.load + layout.code_instructions + 2);
    if (change == "caller") interpreter.memory.put(example.innermost + layout.frame_previous, std::uint64_t{0});
    if (change == "called from elsewhere") interpreter.memory.put(outer + layout.frame_instruction, example.load + layout.code_instructions + 4);
    if (change == "innermost is another") interpreter.memory.put(example.innermost + layout.frame_code, FakeInterpreter::runtime);
  };
  std::size_t call = 0;
  interpreter.memory.before_call = [&] {
    if (++call != 2) return;  // the reading is over, and its result is compared
    change_it();
  };
  // As if somebody else took the processor during the first call.
  interpreter.memory.after_call = [&] {
    for (const auto begin = std::chrono::steady_clock::now(); call == 1 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1);) {
    }
  };
  const Read result = read(example.reader);
  CHECK(call == 2);
  const bool is_same = change == "none" || change == "innermost goes on";
  REQUIRE(result.threads.size() == (is_same ? 2 : 1));
  CHECK(result.threads[0].thread == 4712);
  CHECK(example.reader.torn() == (is_same ? 0 : 1));
  if (is_same) CHECK(text(result.threads[1].stack) == kExample);
}

TEST_CASE("threads whose list goes in a circle are read, up to a limit") {
  Example example;
  const auto thread = example.interpreter.thread(4713, 0);
  example.interpreter.memory.put(thread + example.interpreter.layout.thread_next, thread);
  CHECK(read(example.reader).threads.size() == 1024);
}

TEST_CASE("names that are not ASCII, too long, or no text at all") {
  Example example;
  FakeInterpreter& interpreter = example.interpreter;
  const auto name_at = [&](std::uint64_t address) {
    interpreter.memory.put(example.load + interpreter.layout.code_name, address);
    const Read result = read(example.reader);
    return result.threads.size() == 2 ? result.threads[1].stack[0].function->name : "dropped";
  };
  const auto wide = interpreter.text(std::string(40, '\0'));
  const auto put_wide = [&](std::uint32_t width, std::initializer_list<std::uint32_t> letters) {
    interpreter.memory.put(wide + interpreter.layout.text_length, std::uint64_t{letters.size()});
    interpreter.memory.put(wide + interpreter.layout.text_state, width << 2 | 1u << 5);
    std::uint64_t at = wide + interpreter.layout.text_data;
    for (const std::uint32_t letter : letters) {
      if (width == 1) interpreter.memory.put(at, static_cast<std::uint8_t>(letter));
      if (width == 2) interpreter.memory.put(at, static_cast<std::uint16_t>(letter));
      if (width == 4) interpreter.memory.put(at, letter);
      at += width;
    }
  };
  put_wide(1, {'g', 0xf6});
  CHECK(name_at(wide) == "g\u00f6");
  interpreter.memory.put(example.load + interpreter.layout.code_name, std::uint64_t{0});
  read(example.reader);
  put_wide(2, {0x4e2d, 0xd800, 10});
  CHECK(name_at(wide) == "\u4e2d??");
  interpreter.memory.put(example.load + interpreter.layout.code_name, std::uint64_t{0});
  read(example.reader);
  put_wide(4, {0x1f600, 0x7fff'ffff});
  CHECK(name_at(wide) == "\U0001f600?");
  CHECK(name_at(interpreter.text(std::string(3000, 'x'))).size() == 512);
  CHECK(name_at(interpreter.text("")) == "dropped");
  CHECK(name_at(0) == "dropped");
}

TEST_CASE("memory that changes at random gives stacks of the usual kind, or none") {
  const auto seed = GENERATE(range(0u, 200u));
  std::mt19937 random(seed);
  Example example;
  const std::vector<std::byte> sound = example.interpreter.memory.bytes;
  for (int reading = 0; reading < 50; ++reading) {
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t word = random() % (example.interpreter.used() / 8) * 8;
      // Changes a bit of it, or replaces all of it by data from elsewhere: pointers to the wrong objects.
      if (random() % 2 == 0)
        example.interpreter.memory.bytes[word + random() % 8] ^= static_cast<std::byte>(1u << random() % 8);
      else
        std::memcpy(example.interpreter.memory.bytes.data() + word, example.interpreter.memory.bytes.data() + random() % (example.interpreter.used() / 8) * 8,
                    8);
    }
    const Read result = read(example.reader);
    for (const ThreadStack& thread : result.threads) {
      REQUIRE(thread.stack.size() <= 2049);
      for (const Frame& frame : thread.stack) REQUIRE_FALSE(frame.function->name.empty());
    }
    if (reading % 10 == 9) example.interpreter.memory.bytes = sound;
  }
  example.interpreter.memory.bytes = sound;
  const Read result = read(example.reader);
  REQUIRE(result.threads.size() == 2);
  CHECK(result.threads[1].stack.size() == 4);
}
