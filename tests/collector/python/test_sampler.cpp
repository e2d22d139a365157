// Running interpreters, read from outside.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "../attach/running_target.h"
#include "collector/channel/clock.h"
#include "collector/python/sampler.h"
#include "interpreters.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using python::Sampler;
using python::Stack;

namespace {

// Runs tests/programs/python/python_work.py, which waits for orders.
class PythonProgram {
 public:
  explicit PythonProgram(const std::string& interpreter) : target_({interpreter, LANESCOPE_PYTHON_WORK}) { REQUIRE(target_.read_line() == "ready"); }
  [[nodiscard]] pid_t pid() const { return target_.pid(); }
  void send(const std::string& order) const { target_.send(order + "\n"); }
  void obey(const std::string& order) {
    send(order);
    REQUIRE(target_.read_line() == "done");
  }

 private:
  RunningTarget target_;
};

std::string content(pid_t pid, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::set<std::uint32_t> threads(pid_t pid) {
  std::set<std::uint32_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
    found.insert(static_cast<std::uint32_t>(std::stoul(entry.path().filename().string())));
  return found;
}

// The innermost of the program's own functions.
const python::Frame& own_frame(const Stack& stack) {
  return *std::find_if(stack.begin(), stack.end() - 1, [](const python::Frame& frame) { return frame.function->source_file == LANESCOPE_PYTHON_WORK; });
}

// Waits until the thread was read, and was on this line of the program unless it is 0.
std::shared_ptr<const Stack> wait_for_stack(const Sampler& sampler, pid_t pid, std::uint32_t thread, std::uint32_t line = 0) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < give_up) {
    const std::int64_t now = channel::monotonic_now();
    const auto stack = sampler.at(pid, thread, now, [](std::int64_t) { return true; });
    if (stack && !stack->empty() && (line == 0 || own_frame(*stack).line == line)) return stack;
    std::this_thread::yield();
  }
  FAIL("thread " << thread << " was not read on line " << line);
  return nullptr;
}

bool ends_with(std::string_view name, std::string_view function) {
  return name.ends_with(function);  // the name is qualified from 3.11 on
}

}  // namespace

TEST_CASE("what each thread waits in is read with its line, and nothing in the program changes") {
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    PythonProgram program(interpreter);
    const std::set<std::uint32_t> all = threads(program.pid());
    REQUIRE(all.size() == 2);
    program.obey("0");  // now it has all memory that it needs for waiting
    const std::string maps = content(program.pid(), "maps");
    {
      Sampler sampler(1000);
      sampler.watch(program.pid());
      sampler.start();
      for (const std::uint32_t thread : all) {
        const bool is_main = thread == static_cast<std::uint32_t>(program.pid());
        const std::uint32_t line = line_with(LANESCOPE_PYTHON_WORK, is_main ? "for seconds in sys.stdin" : "Event().wait()");
        const std::shared_ptr<const Stack> stack = wait_for_stack(sampler, program.pid(), thread, line);
        CHECK(own_frame(*stack).function->source_file == LANESCOPE_PYTHON_WORK);
        CHECK(ends_with(own_frame(*stack).function->name, is_main ? "main" : "wait"));
        CHECK(stack->back().is_entry);
        if (is_main) {
          REQUIRE(stack->size() == 2);
          CHECK(stack->back().function->name == "<module>");
        }
      }
      CHECK(sampler.take_refusals().empty());
      CHECK(sampler.counts().programs == 1);
    }
    CHECK(content(program.pid(), "maps") == maps);
    CHECK(threads(program.pid()) == all);
    CHECK_THAT(content(program.pid(), "status"), contains_text("TracerPid:\t0\n"));
  }
}

TEST_CASE("a program that is killed while it is read is no error") {
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    Sampler sampler(1000);
    sampler.start();
    pid_t pid = 0;
    {
      const PythonProgram program(interpreter);
      pid = program.pid();
      sampler.watch(pid);
      wait_for_stack(sampler, pid, static_cast<std::uint32_t>(pid));
      program.send("60");
      const std::uint64_t before = sampler.counts().readings;
      while (sampler.counts().readings < before + 20) std::this_thread::yield();
      kill(pid, SIGKILL);
      while (content(pid, "maps").size() > 0) std::this_thread::yield();
    }
    const std::int64_t now = channel::monotonic_now();
    CHECK(sampler.within(pid, static_cast<std::uint32_t>(pid), 0, now));  // what it did before it ended is still there
    sampler.forget(pid);
    CHECK_FALSE(sampler.within(pid, static_cast<std::uint32_t>(pid), 0, now));
    CHECK(sampler.take_refusals().empty());
  }
}
