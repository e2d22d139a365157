#include "lanescope/trace.pb.h"
#include "model/trace/completeness.h"
#include "model/trace/trace_builder.h"
#include "recording.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

// A recording of one process, modified by `change`.
template <typename Change>
std::string sentence(Change change) {
  TraceBuilder builder;
  builder.provenance().format = "Lanescope";
  change(builder, builder.process(builder.process_of_instance(1)));
  return completeness_text(*builder.snapshot());
}

}  // namespace

TEST_CASE("what a trace lacks is one sentence", "[completeness]") {
  CHECK(sentence([](TraceBuilder&, Process&) {}) == "complete: nothing dropped");
  CHECK(sentence([](TraceBuilder&, Process& process) { process.completeness.dropped = 1; }) == "incomplete: 1 record dropped");
  CHECK(sentence([](TraceBuilder& builder, Process& process) {
          process.completeness = {.produced = 10, .dropped = 1234, .late = 7, .invalid = 2, .unreturned_buffers = 1};
          builder.provenance().unwritten_events = 3;
        }) == "incomplete: 1,234 records dropped, 2 records invalid, 1 CUPTI buffer lost, 3 events had no room in the file");
  CHECK(sentence([](TraceBuilder&, Process& process) { process.completeness.late = 7; }) == "complete: nothing dropped");
  CHECK(sentence([](TraceBuilder& builder, Process&) { builder.provenance().condition = "It is cut off."; }) == "incomplete: the recording was cut off");
  CHECK(sentence([](TraceBuilder& builder, Process&) {
          builder.provenance().finished = true;
          builder.provenance().condition = "1 frame is damaged and skipped, the first at byte 7.";
        }) == "incomplete: not all of it could be read");
  CHECK(sentence([](TraceBuilder& builder, Process& process) {
          process.completeness.dropped = 1;
          builder.provenance().finished = true;
          builder.provenance().condition = "1 frame is damaged and skipped, the first at byte 7.";
        }) == "incomplete: 1 record dropped, not all of it could be read");
  CHECK(sentence([](TraceBuilder& builder, Process&) {
          builder.provenance().finished = true;
          builder.add_diagnostic({.text = "有的行被略去。", .content = {DiagnosticKind::kRowsLeftOut}});
        }) == "complete but for rows that were left out by choice");
  CHECK(sentence([](TraceBuilder& builder, Process&) { builder.provenance().format = "Chrome JSON"; }) == "completeness not recorded");
}

TEST_CASE("nothing is complete beside a warning that says what was lost", "[completeness]") {
  const auto with = [](int severity, int state) {
    return sentence([&](TraceBuilder& builder, Process&) {
      builder.add_diagnostic({.severity = severity,
                              .component = proto::COMPONENT_CPU,
                              .state = state,
                              .text = "5 Sätze über Threads gingen verloren.",
                              .content = {state == proto::STATE_RECORDING ? DiagnosticKind::kLoss : DiagnosticKind::kOther}});
    });
  };
  CHECK(with(proto::SEVERITY_WARNING, proto::STATE_FAILED) == "incomplete: 1 warning says what else is missing");
  CHECK(with(proto::SEVERITY_INFO, proto::STATE_RECORDING) == "complete: nothing dropped");
  CHECK(with(proto::SEVERITY_WARNING, proto::STATE_RECORDING) == "incomplete: 1 warning says what else is missing");  // it was recorded, and some was lost
  CHECK(with(proto::SEVERITY_WARNING, proto::STATE_NO_PERMISSION) == "complete: nothing dropped");                    // it was not recorded at all
}

TEST_CASE("words of a diagnostic say nothing to programs where its kind is told", "[completeness]") {
  const auto content = [](proto::DiagnosticKind kind, std::string_view text, proto::Severity severity = proto::SEVERITY_WARNING) {
    proto::Diagnostic diagnostic;
    diagnostic.set_severity(severity);
    diagnostic.set_component(proto::COMPONENT_CPU);
    diagnostic.set_state(proto::STATE_RECORDING);
    diagnostic.set_kind(kind);
    diagnostic.set_count(7);
    diagnostic.set_text(std::string(text));
    return content_of(diagnostic);
  };
  constexpr std::string_view kWords = "CUDA events are missing: 2 were left out.";
  CHECK(content(proto::DIAGNOSTIC_OTHER, kWords).kind == DiagnosticKind::kOther);
  CHECK(content(proto::DIAGNOSTIC_LOSS, "CUDA 事件未被录制。").kind == DiagnosticKind::kLoss);
  CHECK(content(proto::DIAGNOSTIC_KERNEL_COUNTERS, "").kind == DiagnosticKind::kKernelCounters);
  CHECK(content(proto::DIAGNOSTIC_LEFT_OUT, "").kind == DiagnosticKind::kLeftOut);
  CHECK(content(proto::DIAGNOSTIC_SAME_RECORDING, "").kind == DiagnosticKind::kSameRecording);
  CHECK(content(proto::DIAGNOSTIC_ROWS_LEFT_OUT, "").kind == DiagnosticKind::kRowsLeftOut);
  const DiagnosticContent torn = content(proto::DIAGNOSTIC_TORN_STACKS, "Stacks changed.", proto::SEVERITY_INFO);
  CHECK((torn.kind == DiagnosticKind::kTornStacks && torn.count == 7));
  CHECK(content(static_cast<proto::DiagnosticKind>(99), kWords).kind == DiagnosticKind::kOther);  // of a later version
}

TEST_CASE("a recorder that told no kinds is understood by its words", "[completeness]") {
  const auto content = [](std::string_view text, proto::Severity severity = proto::SEVERITY_WARNING, proto::ComponentState state = proto::STATE_RECORDING) {
    proto::Diagnostic diagnostic;
    diagnostic.set_severity(severity);
    diagnostic.set_component(proto::COMPONENT_CPU);
    diagnostic.set_state(state);
    diagnostic.set_text(std::string(text));
    return content_of(diagnostic);
  };
  const DiagnosticContent torn =
      content("536 Python stacks changed while they were read, and were dropped; programs were read 9818 times.", proto::SEVERITY_INFO);
  CHECK((torn.kind == DiagnosticKind::kTornStacks && torn.count == 536));
  CHECK(content("Stacks of Python are read.", proto::SEVERITY_INFO).kind == DiagnosticKind::kOther);
  CHECK(content("CUDA events are not recorded: CUPTI 12.9 can't tell when streams come past them.").kind == DiagnosticKind::kLoss);
  CHECK(content("5 records were lost.", proto::SEVERITY_INFO).kind == DiagnosticKind::kOther);
  CHECK(content("5 records were lost.", proto::SEVERITY_WARNING, proto::STATE_NO_PERMISSION).kind == DiagnosticKind::kOther);
  CHECK(content("Counters of kernels are not read: another tool uses them (BUSY).", proto::SEVERITY_WARNING, proto::STATE_OWNED_BY_OTHER).kind ==
        DiagnosticKind::kKernelCounters);
  CHECK(content("2 events with times that are not numbers were left out.", proto::SEVERITY_WARNING, proto::STATE_UNSPECIFIED).kind == DiagnosticKind::kLeftOut);
  CHECK(content("b.trace is left out: it holds the same recording as a.trace.", proto::SEVERITY_INFO, proto::STATE_UNSPECIFIED).kind ==
        DiagnosticKind::kSameRecording);
}

TEST_CASE("rows that a file lacks by choice are known by words where it is from before their kind", "[completeness]") {
  proto::Diagnostic condition;
  condition.set_text("1 frame is damaged and skipped. " + std::string(kRowsLeftOut));
  test::Recording recording;
  recording.add(proto::FRAME_DIAGNOSTIC, 0, proto::SOURCE_COMPACTION, condition);
  const auto trace = recording.trace();
  CHECK(trace->provenance().condition == "1 frame is damaged and skipped.");
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK(trace->diagnostics().front().content.kind == DiagnosticKind::kRowsLeftOut);
  CHECK(losses_text(*trace).ends_with(kRowsLeftOut));
}

TEST_CASE("a recording is not complete if another tool has the ranges of a library, which is no matter of a permission", "[completeness]") {
  CHECK(sentence([&](TraceBuilder& builder, Process&) {
          builder.add_diagnostic({.severity = proto::SEVERITY_WARNING,
                                  .component = proto::COMPONENT_NVTX,
                                  .state = proto::STATE_OWNED_BY_OTHER,
                                  .text = "The NVTX ranges of a library go to another tool, which was there first."});
        }) == "incomplete: 1 warning says what else is missing");
}

TEST_CASE("samples that are missing are in the sentence", "[completeness]") {
  CHECK(sentence([&](TraceBuilder& builder, Process&) {
          builder.add_diagnostic({.severity = proto::SEVERITY_INFO, .text = "Stacks changed.", .content = {DiagnosticKind::kTornStacks, 536}});
        }) == "incomplete: 536 Python stacks dropped");
  CHECK(sentence([](TraceBuilder& builder, Process&) {
          builder.add(PcSampleWindow{.dropped = 7, .buffer_was_full = true});
          builder.add(PcSampleWindow{.dropped = 5});
        }) == "incomplete: 12 PC samples dropped, 1 full buffer of PC samples lost more");
  for (const RecordingEnd end : {RecordingEnd::kDiskFull, RecordingEnd::kFileSize})
    CHECK(sentence([&](TraceBuilder& builder, Process&) { builder.provenance().end = end; }) == "incomplete: what came once the file was full");
}

TEST_CASE("what is missing of samples bars no verdict on events, and is said beside answers", "[completeness]") {
  TraceBuilder builder;
  builder.add_diagnostic({.text = "Stacks changed.", .content = {DiagnosticKind::kTornStacks, 3}});
  const auto samples = builder.snapshot();
  CHECK(losses_text(*samples).empty());
  CHECK(lacks_text(*samples) == "Not all that was recorded is here: 3 Python stacks dropped.");
  builder.process(builder.process_of_instance(1)).completeness.dropped = 2;
  CHECK(losses_text(*builder.snapshot()) == "Not all that was recorded is here: 2 records dropped.");
}
