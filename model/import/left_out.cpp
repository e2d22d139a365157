#include "left_out.h"

#include "model/trace/completeness.h"

namespace lanescope::importers {

std::string counted(std::uint64_t number, const std::string& what) { return std::to_string(number) + " " + what + (number == 1 ? "" : "s"); }

void say_left_out(TraceBuilder& builder, std::uint64_t number, const std::string& what, const std::string& which) {
  if (number == 0) return;
  DiagnosticMessage message;
  message.severity = 1;
  message.content.kind = DiagnosticKind::kLeftOut;
  message.text = left_out_sentence(number, what, which);
  builder.add_diagnostic(std::move(message));
}

}  // namespace lanescope::importers
