// The process that connects to another machine: ssh, docker exec or the like, with pipes for its standard input, output and error.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "collector/remote/target.h"
#include "model/file/result.h"

namespace lanescope::remote {

class Transport {
 public:
  // Fails with one sentence if the command can't be started.
  static Result<Transport> start(const std::vector<std::string>& command, Terminal terminal);

  Transport(Transport&& other) noexcept;
  Transport& operator=(Transport&& other) = delete;
  ~Transport();  // closes its pipes, gives it a moment to end by itself, then ends it

  // The descriptors of its input and its output. To be taken once.
  channel::FileDescriptor take_input() { return std::move(input_); }
  channel::FileDescriptor take_output() { return std::move(output_); }

  // Its messages, to be polled; -1 once no more can come.
  [[nodiscard]] int messages() const noexcept { return messages_.get(); }
  // What it has printed to them since the last call, at most a megabyte in total.
  std::string take_messages();

  // Waits for its end, at most for `limit`. Returns its exit code, 128 + signal, or -1 if it still runs.
  int wait(std::chrono::milliseconds limit);

 private:
  Transport() = default;
  pid_t process_ = 0;
  channel::FileDescriptor input_;
  channel::FileDescriptor output_;
  channel::FileDescriptor messages_;
  std::size_t said_ = 0;
};

}  // namespace lanescope::remote
