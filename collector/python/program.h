// One watched process: whether it runs an interpreter, and what its threads were seen to do.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "interpreter.h"
#include "memory.h"
#include "readings.h"
#include "stack_reader.h"
#include "thread_numbers.h"

namespace lanescope::python {

class Program {
 public:
  explicit Program(pid_t process) : process_(process), memory_(process), numbers_(process, memory_) {}

  [[nodiscard]] pid_t process() const noexcept { return process_; }

  // Only on the sampler's thread:
  // Looks for an interpreter if it is time to, and reads its threads if there is one. Returns a sentence if reading will never work.
  std::optional<std::string> read(std::int64_t now, InterpreterFinder& finder, FunctionTable& functions);
  // The process may have become another program.
  void look_anew();
  [[nodiscard]] bool is_read() const noexcept { return reader_ != nullptr; }
  [[nodiscard]] std::int64_t next_look() const noexcept { return next_look_; }
  [[nodiscard]] std::uint64_t readings() const noexcept { return readings_; }
  [[nodiscard]] std::uint64_t torn() const noexcept { return torn_ + (reader_ ? reader_->torn() : 0); }

  // On any thread:
  [[nodiscard]] std::shared_ptr<const Stack> at(std::uint32_t thread, std::int64_t time, std::int64_t distance,
                                                const std::function<bool(std::int64_t time)>& counts) const;
  [[nodiscard]] std::shared_ptr<const Stack> within(std::uint32_t thread, std::int64_t from, std::int64_t until) const;
  [[nodiscard]] bool is_loop(std::uint64_t address) const;

 private:
  std::optional<std::string> look(std::int64_t now, InterpreterFinder& finder, FunctionTable& functions);
  std::optional<std::string> read_threads(std::int64_t now);
  void keep(std::int64_t time);
  void lose_interpreter(std::int64_t now);
  [[nodiscard]] std::string refusal(const std::string& why) const;

  pid_t process_;
  ProcessMemory memory_;
  ThreadNumbers numbers_;
  std::unique_ptr<StackReader> reader_;  // null: no interpreter is known that can be read
  std::int64_t next_look_ = 0;
  std::int64_t between_looks_ = 0;
  bool has_refused_ = false;
  bool has_read_ = false;  // at least one stack of this interpreter was valid
  std::uint64_t readings_ = 0;
  std::uint64_t torn_ = 0;  // for earlier interpreters
  std::vector<ThreadStack> threads_;

  mutable std::mutex mutex_;
  std::map<std::uint32_t, Readings> by_thread_;
  std::vector<AddressRange> loop_;
};

}  // namespace lanescope::python
