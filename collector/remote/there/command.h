// A command that another machine runs here: lanescope with its arguments. Its output is passed on as it comes.
#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <optional>

#include "lanescope/remote.pb.h"
#include "link/link.h"
#include "model/file/result.h"

namespace lanescope::remote {

class Command {
 public:
  // Fails with one sentence if the command is not one of those that may be run, or can't be started. `number`: of the request, for its answer.
  static Result<Command> start(const proto::RemoteRequest::Run& request, std::uint32_t number, const std::filesystem::path& program);

  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;
  ~Command();  // ends it

  // Sends what the command has printed. Returns true if more may come, false once its end was sent.
  bool send_some(Link& link);

 private:
  Command() = default;
  std::uint32_t number_ = 0;
  pid_t process_ = 0;
  std::array<channel::FileDescriptor, 2> streams_;  // as proto::RemoteReply::Stream
  std::array<std::uint64_t, 2> sent_{};
};

}  // namespace lanescope::remote
