// Runs one command with an input, and collects its output.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collector/remote/remote_work.h"
#include "model/file/result.h"

namespace lanescope::remote {

struct Said {
  std::string output;
  std::string messages;
  int code = 0;
};

// Runs the command until it ends. Fails if it cannot be started, prints more than `most` bytes, does nothing for two minutes, or `wish` is not to go on.
Result<Said> converse(const std::vector<std::string>& command, Terminal terminal, std::string_view input, std::size_t most, const std::function<Wish()>& wish);

}  // namespace lanescope::remote
