// What a diagnostic of a recording says, told apart by a value: its words may change, and may be those of another version or language.
#pragma once

#include <cstdint>

namespace lanescope {

namespace proto {
class Diagnostic;
}

enum class DiagnosticKind : std::uint8_t {  // values of proto::DiagnosticKind; here, each is known
  kOther = 1,
  kLoss = 2,
  kTornStacks = 3,
  kKernelCounters = 4,
  kLeftOut = 5,
  kSameRecording = 6,
  kRowsLeftOut = 7,
};

struct DiagnosticContent {
  DiagnosticKind kind = DiagnosticKind::kOther;
  std::uint64_t count = 0;  // kTornStacks: the stacks
};

// What this one says. Files from before version 1.6 of the format leave the kind out: there it is known by the words of the recorders of that time.
[[nodiscard]] DiagnosticContent content_of(const proto::Diagnostic& diagnostic);

}  // namespace lanescope
