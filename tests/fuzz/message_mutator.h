// Changes protobuf messages so that they stay valid messages.
#pragma once

#include <random>

#include <google/protobuf/message.h>

namespace lanescope::fuzz {

// Numbers at the limits of their types, and small ones, which name entries of dictionaries.
[[nodiscard]] std::uint64_t number(std::mt19937& random);

// Changes one to four fields, of the message itself or of one within it, however deep: sets, clears, adds, removes, repeats.
void change(google::protobuf::Message& message, std::mt19937& random);

}  // namespace lanescope::fuzz
