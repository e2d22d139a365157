#include "chrome_samples.h"

#include <algorithm>

namespace lanescope::importers {
namespace {

constexpr std::size_t kMostInlined = 256;  // functions of one call

CodeKind kind_of(const std::string& word) {
  if (word == "python") return CodeKind::kPython;
  if (word == "kernel") return CodeKind::kKernel;
  return word == "generated" ? CodeKind::kGenerated : CodeKind::kNative;
}

}  // namespace

CallNodeId ChromeChains::chain(const std::string& innermost) {
  // Walks from the innermost call outwards to a known one, then back inwards.
  std::vector<std::vector<const std::string*>> calls;
  CallNodeId caller = 0;
  for (auto frame = frames_.find(innermost); frame != frames_.end();) {
    if (const auto known = known_.find(frame->first); known != known_.end()) {
      caller = known->second;
      break;
    }
    known_.emplace(frame->first, 0);  // ends a cycle
    std::vector<const std::string*>& inlined = calls.emplace_back();
    const std::string& call = frame->first;
    inlined.push_back(&call);
    auto outer = frames_.find(frame->second.caller);
    while (outer != frames_.end() && inlined.size() < kMostInlined && outer->first == call + "." + std::to_string(inlined.size())) {
      inlined.push_back(&outer->first);
      outer = frames_.find(outer->second.caller);
    }
    frame = outer;
  }
  for (auto inlined = calls.rbegin(); inlined != calls.rend(); ++inlined) {
    caller = call(*inlined, caller);
    known_[*inlined->front()] = caller;
  }
  return caller;
}

CallNodeId ChromeChains::call(const std::vector<const std::string*>& inlined, CallNodeId caller) {
  std::vector<CodeFunction> functions;
  for (const std::string* id : inlined) {
    const ChromeFrame& frame = frames_.at(*id);
    functions.push_back({builder_.intern(frame.function), builder_.intern(frame.source_file), frame.source_line});
  }
  const ChromeFrame& frame = frames_.at(*inlined.front());
  const CodeLocation location{kind_of(frame.kind), builder_.intern(frame.module), 0, frame.address};
  const CodeLocationId id = builder_.code_location(location, functions.front());
  if (functions.size() > 1) builder_.set_functions(id, std::move(functions));
  return builder_.call_node({caller, id});
}

}  // namespace lanescope::importers
