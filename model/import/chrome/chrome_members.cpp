#include "chrome_members.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanescope::importers {
namespace {

template <typename Number>
void read_number(simdjson::dom::element object, const char* key, Number& target) {
  if (std::uint64_t value = 0; object[key].get(value) == simdjson::SUCCESS) target = static_cast<Number>(value);
}

std::string read_text(simdjson::dom::element object, const char* key) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string{};
}

void read_devices(simdjson::dom::element list, std::map<std::uint32_t, Gpu>& devices) {
  simdjson::dom::array properties;
  if (list.get(properties) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element device : properties) {
    if (!device.is_object()) continue;
    Gpu gpu;
    gpu.name = read_text(device, "name");
    gpu.bus_id = read_text(device, "busId");
    read_number(device, "id", gpu.ordinal);
    read_number(device, "numSms", gpu.multiprocessor_count);
    read_number(device, "computeMajor", gpu.compute_major);
    read_number(device, "computeMinor", gpu.compute_minor);
    read_number(device, "totalGlobalMem", gpu.memory_bytes);
    read_number(device, "regsPerMultiprocessor", gpu.max_registers_per_multiprocessor);
    read_number(device, "sharedMemPerMultiprocessor", gpu.max_shared_memory_per_multiprocessor);
    std::uint64_t threads = 0;
    std::uint64_t warp = 0;
    read_number(device, "maxThreadsPerMultiprocessor", threads);
    read_number(device, "warpSize", warp);
    if (warp > 0) gpu.max_warps_per_multiprocessor = static_cast<std::uint32_t>(threads / warp);
    devices.emplace(gpu.ordinal, std::move(gpu));
  }
}

// For a number or a text: "4711".
std::string word_of(simdjson::dom::element object, const char* key) {
  std::uint64_t number = 0;
  if (object[key].get(number) == simdjson::SUCCESS) return std::to_string(number);
  return read_text(object, key);
}

// Reads as many frames as the limits allow. Returns the number of frames left out.
std::uint64_t read_frames(simdjson::dom::element value, const ImportLimits& limits, ChromeFrames& frames) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return 0;
  std::uint64_t left_out = 0;
  for (const auto& [id, entry] : object) {
    if (!entry.is_object()) continue;
    if (frames.size() * cost::kFrame >= limits.memory()) {
      ++left_out;
      continue;
    }
    ChromeFrame frame;
    frame.function = read_text(entry, "name");
    frame.module = read_text(entry, "category");
    frame.kind = read_text(entry, "kind");
    frame.source_file = read_text(entry, "file");
    frame.caller = word_of(entry, "parent");
    read_number(entry, "line", frame.source_line);
    read_number(entry, "address", frame.address);
    frames.emplace(id, std::move(frame));
  }
  return left_out;
}

// A member in µs, like times of events; nothing if it is not a time.
std::optional<Nanoseconds> read_time(const std::map<std::string, std::string>& members, const char* name) {
  const auto member = members.find(name);
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  double microseconds = 0;
  if (member == members.end() || parser.parse(member->second).get(value) != simdjson::SUCCESS || value.get(microseconds) != simdjson::SUCCESS)
    return std::nullopt;
  constexpr double kFarthest = 9e15;  // ns; a double holds integers up to this exactly
  if (!(std::abs(microseconds) * 1000 < kFarthest)) return std::nullopt;
  return std::llround(microseconds * 1000);
}

std::optional<SavedPart> read_part(const std::map<std::string, std::string>& members) {
  const auto begin = read_time(members, "partBegin"), end = read_time(members, "partEnd");
  if (!begin || !end || *begin >= *end) return std::nullopt;
  return SavedPart{{*begin, *end}, std::min(read_time(members, "partLaunches").value_or(*begin), *begin)};
}

}  // namespace

ChromeMembers read_members(const std::map<std::string, std::string>& members, const ImportLimits& limits) {
  ChromeMembers read;
  read.part = read_part(members);
  read.recording_start = read_time(members, "recordingStart");
  simdjson::dom::parser parser;
  for (const auto& [name, text] : members) {
    simdjson::dom::element value;
    if (parser.parse(text).get(value) != simdjson::SUCCESS) continue;
    std::string_view word;
    if (name == "deviceProperties") read_devices(value, read.devices);
    if (name == "stackFrames") read.frames_left_out = read_frames(value, limits, read.frames);
    if (name == "baseTimeNanoseconds") {
      constexpr std::int64_t kLargest = std::int64_t{1} << 61;  // far beyond any date, and safe to add to
      if (std::int64_t base = 0; value.get(base) == simdjson::SUCCESS && base > 0 && base < kLargest) read.utc_base = base;
    }
    if (name == "attachedPid") {
      if (std::uint64_t pid = 0; value.get(pid) == simdjson::SUCCESS && pid <= std::numeric_limits<std::uint32_t>::max())
        read.attached_pid = static_cast<std::uint32_t>(pid);
    }
    if (name == "host_name" && value.get(word) == simdjson::SUCCESS) read.host_name = word;
    if (name == "producer" && value.get(word) == simdjson::SUCCESS) read.producer = word;
  }
  return read;
}

}  // namespace lanescope::importers
