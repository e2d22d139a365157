#include <charconv>
#include <cmath>
#include <cstring>

#include <simdjson.h>

#include "chrome_event.h"
#include "chrome_tokens.h"
#include "model/trace/text/utf8.h"

namespace lanescope::importers {
namespace {

namespace ondemand = simdjson::ondemand;

// Reads one event at a time out of simdjson's objects.
class EventReader {
 public:
  explicit EventReader(ParsedBatch& parsed) : parsed_(parsed) {}

  // Throws simdjson_error if the text is not JSON.
  void read(ondemand::object object) { parsed_.batch.content == ChromeBatch::Content::kSamples ? read_sample(object) : read_event(object); }

 private:
  void read_sample(ondemand::object object) {
    ChromeSample sample;
    std::optional<Nanoseconds> time;
    for (auto field : object) {
      const Key key(field.key().value().raw());
      ondemand::value value = field.value();
      if (key == "ts") time = nanoseconds_of_microseconds(bare(value.raw_json_token()));
      if (key == "pid") sample.pid = text_of(value);
      if (key == "tid") sample.tid = text_of(value);
      if (key == "sf") sample.frame = text_of(value);
      if (key == "cpu") sample.processor = whole<std::uint32_t>(value.raw_json_token()).value_or(kNone);
      if (key == "period_ns") assign(sample.period, value.raw_json_token());
    }
    if (!time) {
      ++parsed_.invalid;
      return;
    }
    sample.time = *time;
    parsed_.samples.push_back(sample);
  }

  void read_event(ondemand::object object) {
    ChromeEvent event;
    bool passed_arguments = false;  // they came before the keys that say how to read them, for example if keys are sorted
    bool times_are_numbers = true;
    const auto time = [&](std::string_view token, Nanoseconds& target) {
      const auto value = nanoseconds_of_microseconds(bare(token));
      if (value)
        target = *value;
      else
        times_are_numbers = false;
    };
    bool timed = false;
    for (auto field : object) {
      const Key key(field.key().value().raw());
      ondemand::value value = field.value();
      if (key == "ph") {
        const std::string_view text = bare(value.raw_json_token());
        event.phase = text.empty() ? '\0' : text[0];
      } else if (key == "name") {
        event.name = text_of(value);
      } else if (key == "cat") {
        event.category = text_of(value);
      } else if (key == "pid") {
        event.pid = text_of(value);
      } else if (key == "tid") {
        event.tid = text_of(value);
      } else if (key == "ts") {
        time(value.raw_json_token(), event.time);
        timed = true;
      } else if (key == "dur") {
        time(value.raw_json_token(), event.duration);
      } else if (key == "id") {
        event.id = text_of(value);
      } else if (key == "id2") {
        if (is(value, '{')) read_scoped_id(value.get_object(), event);
      } else if (key == "args") {
        passed_arguments = event.phase == 0;
        if (!passed_arguments) read_any_arguments(value, event);
      }
    }
    if (passed_arguments) {
      object.reset();
      for (auto field : object) {
        const Key key(field.key().value().raw());
        ondemand::value value = field.value();
        if (key == "args") read_any_arguments(value, event);
      }
    }
    event.has_time = timed && times_are_numbers;
    if (event.phase == 0)
      ++parsed_.invalid;
    else
      parsed_.events.push_back(event);
  }

  // {"local": "0x1"} is an id of the process; the alternative is {"global": "0x1"}.
  void read_scoped_id(ondemand::object object, ChromeEvent& event) {
    for (auto field : object) {
      const Key key(field.key().value().raw());
      ondemand::value value = field.value();
      if (key == "local" || key == "global") event.id = text_of(value);
      if (key == "local") event.id_of_process = true;
    }
  }

  void read_any_arguments(ondemand::value& value, ChromeEvent& event) {
    if (!is(value, '{')) return;
    if (event.phase == 'C')
      read_values(value.get_object(), event);
    else if (event.category == "page_fault")
      read_page_fault(value.get_object(), event);
    else if (has_arguments_to_read(event))
      read_arguments(value.get_object(), event.arguments);
  }

  static bool is(ondemand::value& value, char first) { return value.raw_json_token().front() == first; }

  // The most frequent categories have no arguments that are stored, but for begins of ranges that had not ended.
  static bool has_arguments_to_read(const ChromeEvent& event) {
    if (event.phase == 's' || event.phase == 'f') return false;
    return event.phase == 'B' || (event.category != "cpu_op" && event.category != "python_function" && event.category != "Operator");
  }

  // Empty for values that are neither text nor number.
  std::string_view text_of(ondemand::value& value) {
    if (is(value, '{') || is(value, '[') || is(value, 'n')) return {};
    const std::string_view text = bare(value.raw_json_token());
    if (std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
    return parsed_.unescaped.emplace_back(unescaped(text));
  }

  // Reads the values that are numbers.
  void read_values(ondemand::object object, ChromeEvent& event) {
    event.first_value = static_cast<std::uint32_t>(parsed_.values.size());
    for (auto field : object) {
      const std::string_view series = field.unescaped_key().value();
      ondemand::value value = field.value();
      const std::string_view text = bare(value.raw_json_token());
      ChromeValue read;
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), read.value);
      if (failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(read.value)) continue;
      read.series = parsed_.unescaped.emplace_back(series);
      parsed_.values.push_back(read);
    }
    event.value_count = static_cast<std::uint32_t>(parsed_.values.size()) - event.first_value;
  }

  void read_page_fault(ondemand::object object, ChromeEvent& event) {
    ChromePageFault fault;
    for (auto field : object) {
      const Key key(field.key().value().raw());
      ondemand::value value = field.value();
      if (key == "device") event.arguments.device = whole<std::uint32_t>(value.raw_json_token());
      if (key == "address") fault.address = address_of(value.raw_json_token());
      if (key == "instruction") fault.instruction = address_of(value.raw_json_token());
      if (key == "faults") assign(fault.faults, value.raw_json_token());
      if (key == "access") assign(fault.access, value.raw_json_token());
      if (key == "line") assign(fault.line, value.raw_json_token());
      if (key == "function") fault.function = text_of(value);
      if (key == "module") fault.module = text_of(value);
      if (key == "file") fault.file = text_of(value);
    }
    event.first_value = static_cast<std::uint32_t>(parsed_.page_faults.size());
    event.value_count = 1;
    parsed_.page_faults.push_back(fault);
  }

  static void read_extent(ondemand::value& value, std::array<std::uint32_t, 3>& extent) {
    if (!is(value, '[')) return;
    std::size_t axis = 0;
    for (auto element : value.get_array()) {
      if (axis == extent.size()) break;
      assign(extent[axis++], element.value().raw_json_token());
    }
  }

  void read_arguments(ondemand::object object, ChromeArguments& arguments) {
    for (auto field : object) {
      const Key key(field.key().value().raw());
      ondemand::value value = field.value();
      const auto number = [&](auto& target) { assign(target, value.raw_json_token()); };
      switch (key.first()) {
        case 'a':
          if (key == "address") arguments.address = address_of(value.raw_json_token());
          break;
        case 'b':
          if (key == "bytes")
            arguments.bytes = whole<std::int64_t>(value.raw_json_token());
          else if (key == "block")
            read_extent(value, arguments.block);
          break;
        case 'B':
          if (key == "Bytes") arguments.bytes = whole<std::int64_t>(value.raw_json_token());
          break;
        case 'c':
          if (key == "correlation")
            number(arguments.correlation);
          else if (key == "context")
            number(arguments.context);
          else if (key == "cluster")
            read_extent(value, arguments.cluster);
          else if (key == "cuda_sync_kind")
            arguments.kind = text_of(value);
          else if (key == "category")
            arguments.category = text_of(value);
          else if (key == "category id")
            number(arguments.category_id);
          else if (key == "color")
            number(arguments.color);
          else if (key == "cache config")
            number(arguments.cache_config);
          else if (key == "cpu")
            arguments.processor = whole<std::uint32_t>(value.raw_json_token()).value_or(kNone);
          break;
        case 'd':
          if (key == "device")
            arguments.device = whole<std::uint32_t>(value.raw_json_token());
          else if (key == "domain" && is(value, '"'))
            arguments.domain = text_of(value);
          break;
        case 'e':
          if (key == "executed shared memory") number(arguments.executed_shared_memory);
          break;
        case 'f':
          if (key == "fromDevice") number(arguments.from_device);
          break;
        case 'g':
          if (key == "grid")
            read_extent(value, arguments.grid);
          else if (key == "graph id")
            number(arguments.graph);
          else if (key == "graph node id")
            number(arguments.graph_node);
          break;
        case 'h':
          if (key == "host pid") arguments.host_pid = whole<std::uint32_t>(value.raw_json_token());
          break;
        case 'l':
          if (key == "labels")
            arguments.labels = text_of(value);
          else if (key == "local memory per thread")
            number(arguments.local_memory_per_thread);
          else if (key == "local memory")
            number(arguments.local_memory);
          else if (key == "launch type")
            number(arguments.launch_type);
          break;
        case 'm':
          if (key == "migration cause") number(arguments.migration_cause);
          break;
        case 'n':
          if (key == "name") arguments.name = text_of(value);
          break;
        case 'p':
          if (key == "payload")
            (is(value, '"') ? arguments.payload_text : arguments.payload) = text_of(value);
          else if (key == "payload type")
            arguments.payload_type = text_of(value);
          break;
        case 'r':
          if (key == "registers per thread")
            number(arguments.registers);
          else if (key == "return value")
            number(arguments.result);
          break;
        case 's':
          if (key == "stream")
            arguments.stream = stream_of(value.raw_json_token());
          else if (key == "shared memory")
            number(arguments.shared_memory);
          else if (key == "static shared memory")
            number(arguments.static_shared_memory);
          break;
        case 't':
          if (key == "toDevice")
            number(arguments.to_device);
          else if (key == "thread")
            arguments.thread = whole<std::uint32_t>(value.raw_json_token());
          break;
        case 'u':
          if (key == "unfinished ns") arguments.unfinished = whole<Nanoseconds>(value.raw_json_token());
          break;
        case 'v':
          if (key == "value") number(arguments.value);
          break;
        case 'w':
          if (key == "wait_on_cuda_event_id") number(arguments.wait_event);
          break;
        default:
          break;
      }
    }
  }

  // Work without a stream has -1, CUPTI's largest number.
  static std::optional<std::uint32_t> stream_of(std::string_view token) {
    const auto stream = whole<std::int64_t>(token);
    if (!stream) return std::nullopt;
    return static_cast<std::uint32_t>(*stream);
  }

  ParsedBatch& parsed_;
};

}  // namespace

struct ChromeParser::State {
  ondemand::parser parser;

  // Reads all elements at once. Returns false if the text is not JSON; `parsed` then contains the elements before the error.
  bool read_array(const char* text, std::size_t size, ParsedBatch& parsed) {
    EventReader reader(parsed);
    try {
      ondemand::document document = parser.iterate(simdjson::padded_string_view(text, size, size + ChromeBatch::kPadding));
      for (auto element : document.get_array()) {
        ondemand::value value = element.value();
        if (value.type() == ondemand::json_type::object)
          reader.read(value.get_object());
        else
          ++parsed.invalid;
      }
      return true;
    } catch (const simdjson::simdjson_error&) {
      return false;
    }
  }

  // Reads elements one by one, so that a damaged element does not affect others.
  void read_elements(ParsedBatch& parsed) {
    for (const ChromeBatch::Element& element : parsed.batch.elements) {
      std::string text = valid_utf8(std::string_view(parsed.batch.text.data() + element.begin, element.end - element.begin));
      text = "[" + text + "]";
      const std::size_t size = text.size();
      text.append(ChromeBatch::kPadding, ' ');
      const std::string& kept = parsed.unescaped.emplace_back(std::move(text));
      const std::size_t events = parsed.events.size(), samples = parsed.samples.size();
      const std::uint64_t invalid = parsed.invalid;
      if (read_array(kept.data(), size, parsed)) continue;
      parsed.events.resize(events);
      parsed.samples.resize(samples);
      parsed.invalid = invalid + 1;
    }
  }
};

ChromeParser::ChromeParser() : state_(std::make_unique<State>()) {}
ChromeParser::~ChromeParser() = default;

void ChromeParser::parse(ChromeBatch batch, ParsedBatch& parsed) {
  parsed.batch = std::move(batch);
  const auto clear = [&] {
    parsed.events.clear();
    parsed.values.clear();
    parsed.page_faults.clear();
    parsed.samples.clear();
    parsed.unescaped.clear();
    parsed.invalid = 0;
  };
  clear();
  if (state_->read_array(parsed.batch.text.data(), parsed.batch.size, parsed)) return;
  clear();
  state_->read_elements(parsed);
}

}  // namespace lanescope::importers
