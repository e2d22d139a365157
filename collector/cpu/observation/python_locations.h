// Code locations of Python functions, numbered by one encoder.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "collector/python/merge.h"
#include "collector/python/stacks.h"
#include "process_encoder.h"

namespace lanescope::cpu {

class PythonLocations {
 public:
  // The result is valid until the next call. Functions must live as long as this object.
  std::span<const python::PythonCall> find(const python::Stack& stack, ProcessEncoder& encoder) {
    calls_.clear();
    constexpr std::size_t kMaximumKnown = 500'000;
    if (count_ > kMaximumKnown) {
      known_.clear();
      count_ = 0;
    }
    for (const python::Frame& frame : stack) {
      std::uint32_t& location = known_[frame.function][frame.line];
      count_ += location == 0 ? 1 : 0;
      if (location == 0) location = encoder.location(InterpretedFunction{frame.function->name, frame.function->source_file, frame.line});
      calls_.push_back({location, frame.is_entry});
    }
    return calls_;
  }

 private:
  std::unordered_map<const python::Function*, std::unordered_map<std::uint32_t, std::uint32_t>> known_;  // by line
  std::size_t count_ = 0;
  std::vector<python::PythonCall> calls_;
};

}  // namespace lanescope::cpu
