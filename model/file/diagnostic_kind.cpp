#include "model/file/diagnostic_kind.h"

#include <array>
#include <charconv>
#include <string_view>

#include "lanescope/trace.pb.h"

namespace lanescope {
namespace {

// What recorders wrote that did not say the kind.
DiagnosticContent content_by_words(const proto::Diagnostic& diagnostic) {
  constexpr std::array<std::string_view, 4> kLossWords = {" missing", " lost", " not recorded", " dropped"};
  const std::string_view text = diagnostic.text();
  const auto says = [text](std::string_view words) { return text.find(words) != std::string_view::npos; };
  const std::size_t torn = text.find(" Python stacks changed while they were read, and were dropped;");
  if (torn != std::string_view::npos && diagnostic.component() == proto::COMPONENT_CPU) {
    DiagnosticContent content{DiagnosticKind::kTornStacks, 0};
    std::from_chars(text.data(), text.data() + torn, content.count);
    return content;
  }
  if (says(" is left out: it holds the same recording as ")) return {DiagnosticKind::kSameRecording};
  if (diagnostic.severity() < proto::SEVERITY_WARNING) return {};
  if (says("ounters of kernels are not read")) return {DiagnosticKind::kKernelCounters};
  if (text.ends_with(" left out.")) return {DiagnosticKind::kLeftOut};
  if (diagnostic.state() != proto::STATE_RECORDING) return {};
  for (const std::string_view words : kLossWords)
    if (says(words)) return {DiagnosticKind::kLoss};
  return {};
}

}  // namespace

DiagnosticContent content_of(const proto::Diagnostic& diagnostic) {
  if (diagnostic.kind() == proto::DIAGNOSTIC_UNSPECIFIED) return content_by_words(diagnostic);
  if (diagnostic.kind() < proto::DIAGNOSTIC_OTHER || diagnostic.kind() > proto::DIAGNOSTIC_ROWS_LEFT_OUT) return {};  // of a later version
  return {static_cast<DiagnosticKind>(diagnostic.kind()), diagnostic.count()};
}

}  // namespace lanescope
