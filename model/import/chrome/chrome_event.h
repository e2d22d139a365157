// One event of a Chrome trace, as in the file. Internal to model/import.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chrome_splitter.h"
#include "model/trace/types.h"

namespace lanescope::importers {

// The part of "args" that a trace can store. Absent numbers are 0.
struct ChromeArguments {
  std::uint32_t correlation = 0;
  std::optional<std::uint32_t> device;
  std::uint32_t context = 0;
  std::optional<std::uint32_t> stream;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> cluster{};
  std::uint32_t registers = 0;             // per thread
  std::uint32_t shared_memory = 0;         // bytes per block, static and dynamic together
  std::uint32_t static_shared_memory = 0;  // bytes per block, included in shared_memory
  std::uint32_t executed_shared_memory = 0;
  std::uint32_t local_memory_per_thread = 0;
  std::uint64_t local_memory = 0;
  std::uint32_t launch_type = 0;
  std::uint32_t cache_config = 0;
  std::optional<std::int64_t> bytes;
  std::uint32_t value = 0;            // of a set
  std::uint64_t address = 0;          // of a copy of unified memory
  std::uint32_t migration_cause = 0;  // of a copy of unified memory
  std::uint32_t graph = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t from_device = 0;  // peer copies
  std::uint32_t to_device = 0;
  std::uint32_t result = 0;               // of a call
  std::uint32_t wait_event = 0;           // of a synchronization
  std::optional<std::uint32_t> thread;    // of a thread's state: the thread
  std::uint32_t processor = kNone;        // of a thread's state: the processor
  std::optional<std::uint32_t> host_pid;  // of a GPU's rows: the process whose work they show
  std::string_view name;                  // of metadata
  std::string_view labels;                // of metadata: "GPU 0"
  std::string_view kind;                  // of a synchronization
  // For ranges and marks in our exports.
  std::string_view domain;
  std::string_view category;
  std::uint32_t category_id = 0;
  std::uint32_t color = 0;
  std::string_view payload;               // a number
  std::string_view payload_text;          // or a structured one
  std::optional<Nanoseconds> unfinished;  // also for kernels: how long it was seen, if it had not ended with the recording
  std::string_view payload_type;          // of the number: "signed", "real"; empty: unsigned
};

struct ChromeEvent {
  char phase = 0;
  bool has_time = false;  // both times are valid numbers
  Nanoseconds time = 0;   // as in the file, in ns
  Nanoseconds duration = 0;
  std::string_view category;
  std::string_view name;
  std::string_view pid;  // as text, whether it is a number or a string
  std::string_view tid;
  std::string_view id;
  bool id_of_process = false;  // the id is only valid within the event's process
  ChromeArguments arguments;
  std::uint32_t first_value = 0;  // [first_value, first_value + value_count) in ParsedBatch::values or, for a page fault, in page_faults
  std::uint32_t value_count = 0;
};

// A number in a counter's event, with the name of its series.
struct ChromeValue {
  std::string_view series;
  double value = 0;
};

// The "args" of a page fault. Absent numbers are 0.
struct ChromePageFault {
  std::uint64_t address = 0;
  std::uint64_t instruction = 0;
  std::string_view function;
  std::string_view module;
  std::string_view file;
  std::uint32_t line = 0;
  std::uint32_t faults = 1;
  std::uint32_t access = 0;
};

// A sample of running code.
struct ChromeSample {
  Nanoseconds time = 0;  // as in the file, in ns
  std::string_view pid, tid;
  std::string_view frame;  // the innermost; empty if the chain is unknown
  std::uint32_t processor = kNone;
  Nanoseconds period = 0;
};

// A batch and its events or samples, which point into its text.
struct ParsedBatch {
  ChromeBatch batch;
  std::vector<ChromeEvent> events;
  std::vector<ChromeValue> values;  // of counters
  std::vector<ChromePageFault> page_faults;
  std::vector<ChromeSample> samples;
  std::deque<std::string> unescaped;  // strings that contain escapes in the text
  std::uint64_t invalid = 0;          // elements that are not events, or not samples
};

// Parses text into events and samples. One thread at a time.
class ChromeParser {
 public:
  ChromeParser();
  ~ChromeParser();
  ChromeParser(const ChromeParser&) = delete;
  ChromeParser& operator=(const ChromeParser&) = delete;

  // Replaces the content of `parsed`. Elements that are not JSON objects with a phase, and samples without a time, are counted and left out. Invalid UTF-8 is
  // replaced.
  void parse(ChromeBatch batch, ParsedBatch& parsed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The number if the text is an integer and nothing else.
[[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view text) noexcept;

// Converts a decimal number of µs to ns, rounded to the nearest. Nothing for other texts and for numbers out of range: a time must be within ±2^61 ns.
// "12.3456" -> 12346, "1.5e3" -> 1500000.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_of_microseconds(std::string_view text) noexcept;

}  // namespace lanescope::importers
