// Call chains of samples as a Chrome trace has them: its member "stackFrames". Internal to model/import.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/trace_builder.h"

namespace lanescope::importers {

// A call of a chain. Frames of the inlined callers of "12" are "12.1", "12.2", ..., innermost first, as our exports number them.
struct ChromeFrame {
  std::string function;
  std::string module;
  std::string kind;  // "python", "kernel" or "generated"; else native
  std::string source_file;
  std::uint32_t source_line = 0;
  std::uint64_t address = 0;
  std::string caller;  // its id; empty for the outermost
};
using ChromeFrames = std::unordered_map<std::string, ChromeFrame>;

// The call chains of a builder that frames stand for, each made once.
class ChromeChains {
 public:
  ChromeChains(const ChromeFrames& frames, TraceBuilder& builder) : frames_(frames), builder_(builder) {}
  // 0 for a frame that is not there. Chains that run in a circle end where they meet themselves.
  [[nodiscard]] CallNodeId chain(const std::string& frame);

 private:
  CallNodeId call(const std::vector<const std::string*>& inlined, CallNodeId caller);

  const ChromeFrames& frames_;
  TraceBuilder& builder_;
  std::unordered_map<std::string, CallNodeId> known_;
};

}  // namespace lanescope::importers
