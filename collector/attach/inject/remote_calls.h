// A thread of another process that can be made to call functions there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "model/file/result.h"

namespace lanescope::attach {

class RemoteCalls {
 public:
  virtual ~RemoteCalls() = default;

  // Calls a function of the target with up to six integers or pointers. Fails if it does not return within the limit, or if the process ends. After a
  // failure no further call can be made.
  virtual Result<std::uint64_t> call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, std::chrono::milliseconds limit) = 0;

  // Puts text with a zero at its end, or room for `bytes`, into memory that the called functions can access. It is valid until the last call was
  // made.
  virtual Result<std::uint64_t> place(std::string_view text) = 0;
  virtual Result<std::uint64_t> reserve(std::size_t bytes) = 0;
};

}  // namespace lanescope::attach
