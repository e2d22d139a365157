#include "model/import/chrome_json.h"

#include <thread>

#include "bounded_queue.h"
#include "chrome_assembly.h"
#include "chrome_event.h"
#include "chrome_members.h"
#include "chrome_splitter.h"
#include "text_source.h"

namespace lanescope {
namespace {

using namespace importers;

constexpr std::size_t kBatchesAhead = 4;

// Reads, cuts and parses the text on two threads, ahead of the one that takes the events. Batches are used again, so that the memory is
// that of a few of them.
class ParsingAhead {
 public:
  explicit ParsingAhead(ChromeSplitter& splitter) : splitter_(splitter), splitting_([this] { split(); }), parsing_([this] { parse(); }) {}
  ~ParsingAhead() { stop(); }
  ParsingAhead(const ParsingAhead&) = delete;
  ParsingAhead& operator=(const ParsingAhead&) = delete;

  std::optional<ParsedBatch> next() { return parsed_.pop(); }
  void recycle(ParsedBatch batch) {
    used_texts_.push(std::move(batch.batch));
    batch.batch = {};
    used_events_.push(std::move(batch));
  }

  // Ends the threads. The splitter and the source are the caller's then.
  void stop() {
    for (auto* queue : {&cut_, &used_texts_}) queue->close();
    for (auto* queue : {&parsed_, &used_events_}) queue->close();
    if (splitting_.joinable()) splitting_.join();
    if (parsing_.joinable()) parsing_.join();
  }

 private:
  void split() {
    while (auto batch = splitter_.next(used_texts_.try_pop().value_or(ChromeBatch{})))
      if (!cut_.push(std::move(*batch))) break;
    cut_.close();
  }
  void parse() {
    ChromeParser parser;
    while (auto batch = cut_.pop()) {
      ParsedBatch parsed = used_events_.try_pop().value_or(ParsedBatch{});
      parser.parse(std::move(*batch), parsed);
      if (!parsed_.push(std::move(parsed))) break;
    }
    parsed_.close();
  }

  ChromeSplitter& splitter_;
  BoundedQueue<ChromeBatch> cut_{kBatchesAhead};
  BoundedQueue<ParsedBatch> parsed_{kBatchesAhead};
  BoundedQueue<ChromeBatch> used_texts_{4 * kBatchesAhead};  // hold every batch there is: pushing never waits
  BoundedQueue<ParsedBatch> used_events_{4 * kBatchesAhead};
  std::thread splitting_;
  std::thread parsing_;
};

std::string counted(std::uint64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// "2 events with times that are out of range were left out."
void say_left_out(TraceBuilder& builder, std::uint64_t number, const std::string& what, const std::string& which) {
  if (number == 0) return;
  DiagnosticMessage message;
  message.severity = 1;
  message.text = counted(number, what) + " " + which + (number == 1 ? " was" : " were") + " left out.";
  builder.add_diagnostic(std::move(message));
}

}  // namespace

bool looks_like_chrome_json(std::string_view head) noexcept {
  std::string text;
  if (head.starts_with("\x1f\x8b")) {
    text = beginning_of_gzip(head);
    head = text;
  }
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '{' || head[first] == '[');
}

Result<std::shared_ptr<const Trace>> import_chrome_json(const std::filesystem::path& path, const LoadProgress& progress) {
  auto opened = TextSource::open(path);
  if (!opened) return opened.error();
  TextSource& source = **opened;
  ChromeSplitter splitter(source);
  TraceBuilder builder;
  ChromeAssembly assembly(builder);
  std::uint64_t elements = 0;
  std::uint64_t invalid = 0;
  std::uint64_t invalid_samples = 0;
  {
    ParsingAhead ahead(splitter);
    while (auto batch = ahead.next()) {
      for (const ChromeEvent& event : batch->events) assembly.add(event, *batch);
      for (const ChromeSample& sample : batch->samples) assembly.add(sample);
      const bool of_samples = batch->batch.content == ChromeBatch::Content::kSamples;
      if (!of_samples) elements += batch->batch.elements.size();
      (of_samples ? invalid_samples : invalid) += batch->invalid;
      ahead.recycle(std::move(*batch));
      if (progress && progress(source.fraction(), nullptr) == LoadStep::kCancel)
        return Error{"Reading " + path.string() + " was cancelled."};
    }
  }
  const std::string& damage = splitter.damage();
  if (!splitter.has_events()) {
    if (!damage.empty()) return Error{path.string() + " is not a trace: " + damage + "."};
    return Error{path.string() +
                 " is JSON, but not a trace: it has no traceEvents. Chrome JSON traces are what torch.profiler's "
                 "export_chrome_trace() writes."};
  }
  if (elements > 0 && elements == invalid)
    return Error{path.string() + " is JSON, but not a trace: none of its " + counted(elements, "element") + " is a trace event."};
  if (elements == 0 && !damage.empty()) return Error{path.string() + " can't be read: " + damage + ", before its first event."};

  assembly.finish(read_members(splitter.members()));
  Provenance& provenance = builder.provenance();
  provenance.finished = damage.empty();
  if (!damage.empty())
    provenance.condition =
        "The file is damaged: " + damage + "; the " + counted(assembly.event_count(), "event") + " before that were read.";
  say_left_out(builder, invalid, "element", "of traceEvents that can't be understood");
  say_left_out(builder, invalid_samples, "sample", "that can't be understood");
  say_left_out(builder, assembly.without_time(), "event", "with times that are not numbers, or out of range,");
  say_left_out(builder, assembly.without_place(), "event", "of kinds that a timeline has no place for (objects, memory dumps)");
  say_left_out(builder, assembly.ends_alone(), "end", "of ranges that nothing began");
  return builder.snapshot();
}

}  // namespace lanescope
