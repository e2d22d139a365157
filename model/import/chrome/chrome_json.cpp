#include "model/import/chrome_json.h"

#include <atomic>
#include <new>
#include <thread>

#include "../left_out.h"
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

// Reads, divides and parses the text on two threads, ahead of the thread that takes the events. Batches are reused, so memory is that of a few of them.
class ParsingAhead {
 public:
  // Throws std::system_error if no thread can be started.
  explicit ParsingAhead(ChromeSplitter& splitter) : splitter_(splitter) {
    try {
      splitting_ = std::thread([this] { split(); });
      parsing_ = std::thread([this] { parse(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~ParsingAhead() { stop(); }
  ParsingAhead(const ParsingAhead&) = delete;
  ParsingAhead& operator=(const ParsingAhead&) = delete;

  // Nothing at the end. Throws std::bad_alloc if a thread ran out of memory.
  std::optional<ParsedBatch> next() {
    auto batch = parsed_.pop();
    if (!batch && out_of_memory_) throw std::bad_alloc();
    return batch;
  }
  void recycle(ParsedBatch batch) {
    used_texts_.push(std::move(batch.batch));
    batch.batch = {};
    used_events_.push(std::move(batch));
  }

  // Ends the threads. The caller may then use the splitter and the source.
  void stop() {
    for (auto* queue : {&cut_, &used_texts_}) queue->close();
    for (auto* queue : {&parsed_, &used_events_}) queue->close();
    if (splitting_.joinable()) splitting_.join();
    if (parsing_.joinable()) parsing_.join();
  }

 private:
  void split() {
    try {
      while (auto batch = splitter_.next(used_texts_.try_pop().value_or(ChromeBatch{})))
        if (!cut_.push(std::move(*batch))) break;
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
    }
    cut_.close();
  }
  void parse() {
    try {
      ChromeParser parser;
      while (auto batch = cut_.pop()) {
        ParsedBatch parsed = used_events_.try_pop().value_or(ParsedBatch{});
        parser.parse(std::move(*batch), parsed);
        if (!parsed_.push(std::move(parsed))) break;
      }
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
    }
    cut_.close();  // if this thread failed, the other one may be waiting for room
    parsed_.close();
  }

  ChromeSplitter& splitter_;
  std::atomic<bool> out_of_memory_ = false;  // set before a queue is closed
  BoundedQueue<ChromeBatch> cut_{kBatchesAhead};
  BoundedQueue<ParsedBatch> parsed_{kBatchesAhead};
  BoundedQueue<ChromeBatch> used_texts_{4 * kBatchesAhead};  // larger than the number of batches, so push() never waits
  BoundedQueue<ParsedBatch> used_events_{4 * kBatchesAhead};
  std::thread splitting_;
  std::thread parsing_;
};

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
  const ImportLimits limits = source.limits();
  std::uint64_t read = 0;  // events and samples
  std::uint64_t elements = 0;
  std::uint64_t invalid = 0;
  std::uint64_t invalid_samples = 0;
  std::string damage;
  {
    ParsingAhead ahead(splitter);
    while (auto batch = ahead.next()) {
      for (const ChromeEvent& event : batch->events) assembly.add(event, *batch);
      for (const ChromeSample& sample : batch->samples) assembly.add(sample);
      read += batch->batch.elements.size() + batch->values.size();
      const bool of_samples = batch->batch.content == ChromeBatch::Content::kSamples;
      if (!of_samples) elements += batch->batch.elements.size();
      (of_samples ? invalid_samples : invalid) += batch->invalid;
      ahead.recycle(std::move(*batch));
      if (progress && progress(source.fraction(), nullptr) == LoadStep::kCancel) return Error{"Reading " + path.string() + " was cancelled."};
      if (read > limits.elements() || assembly.memory_bytes() > limits.memory()) {
        damage = "it holds more than a file of its size is read with";
        if (source.form() == TextSource::Form::kGzip) damage += " (gunzip it first to read all of it)";
        break;
      }
    }
  }
  if (damage.empty()) damage = splitter.damage();
  if (!splitter.has_events()) {
    if (!damage.empty()) return Error{path.string() + " is not a trace: " + damage + "."};
    return Error{path.string() +
                 " is JSON, but not a trace: it has no traceEvents. Chrome JSON traces are what torch.profiler's "
                 "export_chrome_trace() writes."};
  }
  if (elements > 0 && elements == invalid)
    return Error{path.string() + " is JSON, but not a trace: none of its " + counted(elements, "element") + " is a trace event."};
  if (elements == 0 && !damage.empty()) return Error{path.string() + " can't be read: " + damage + ", before its first event."};

  const ChromeMembers members = read_members(splitter.members(), limits);
  assembly.finish(members);
  Provenance& provenance = builder.provenance();
  provenance.finished = damage.empty();
  if (!damage.empty())
    provenance.condition = "The file is damaged: " + damage + "; the " + counted(assembly.event_count(), "event") + " before that were read.";
  say_left_out(builder, invalid, "element", "of traceEvents that can't be understood");
  say_left_out(builder, members.frames_left_out, "frame", "of call stacks, of which there are more than a file of its size is read with,");
  say_left_out(builder, invalid_samples, "sample", "that can't be understood");
  say_left_out(builder, assembly.without_time(), "event", "with times that are not numbers, or out of range,");
  say_left_out(builder, assembly.without_place(), "event", "of kinds that a timeline has no place for (objects, memory dumps)");
  say_left_out(builder, assembly.ends_alone(), "end", "of ranges that nothing began");
  return builder.snapshot();
}

}  // namespace lanescope
