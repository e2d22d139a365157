#include "kernel_metrics/instruction_image.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "collector/channel/kernel_counters.h"
#include "model/file/limits.h"

namespace lanescope::kernel_metrics {
namespace {

constexpr std::size_t kMostMetrics = 64;          // number of bits of InstructionImage::known
constexpr std::size_t kMostValues = 256 * 1024;   // in a message; each takes at most 10 bytes
constexpr std::size_t kMostNameBytes = 2u << 20;  // in a message, exceeded by one name at most

// Takes values from the start of the bytes while there are enough.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  bool read(T& value) {
    if (bytes_.size() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return true;
  }
  bool read(std::size_t size, std::string& text) {
    if (bytes_.size() < size) return false;
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return true;
  }
  template <typename T>
  bool read(std::uint64_t count, std::vector<T>& values) {
    if (count > bytes_.size() / sizeof(T)) return false;
    values.resize(count);
    if (count != 0) std::memcpy(values.data(), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
    return true;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

// Merges the rows of one instruction: CUPTI has a separate record for each metric.
void add_up(std::vector<channel::InstructionRow>& rows, std::vector<std::uint64_t>& values, std::size_t metrics) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&rows](std::size_t i) { return std::pair(rows[i].function, rows[i].pc); };
  std::stable_sort(order.begin(), order.end(), [&key](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<channel::InstructionRow> merged;
  std::vector<std::uint64_t> sums;
  for (const std::size_t i : order) {
    if (merged.empty() || std::pair(merged.back().function, merged.back().pc) != key(i)) {
      merged.push_back(rows[i]);
      sums.resize(sums.size() + metrics);
    }
    for (std::size_t metric = 0; metric < metrics; ++metric) sums[sums.size() - metrics + metric] += values[i * metrics + metric];
  }
  rows = std::move(merged);
  values = std::move(sums);
}

}  // namespace

std::vector<proto::InstructionCounts> instruction_counts(std::span<const std::uint8_t> image, std::span<const std::string> metrics) {
  ByteReader reader(image);
  channel::InstructionImage head;
  if (!reader.read(head) || head.metrics != metrics.size() || head.metrics == 0 || head.metrics > kMostMetrics) return {};
  std::vector<proto::GpuFunction> functions;
  for (std::uint32_t i = 0; i < head.functions; ++i) {
    channel::CountedFunction function;
    std::string name;
    if (!reader.read(function) || !reader.read(std::size_t{function.name_bytes}, name)) return {};
    proto::GpuFunction& added = functions.emplace_back();
    added.set_code_object(function.crc);
    added.set_index(function.index);
    added.set_name(name.substr(0, limits::kTextBytes));
  }
  std::vector<channel::InstructionRow> rows;
  std::vector<std::uint64_t> values;
  if (!reader.read(head.rows, rows) || !reader.read(head.rows * head.metrics, values)) return {};
  if (std::any_of(rows.begin(), rows.end(), [&](const channel::InstructionRow& row) { return row.function >= functions.size(); })) return {};
  add_up(rows, values, head.metrics);
  std::vector<proto::InstructionCounts> messages;
  const std::size_t most_rows = std::min<std::size_t>(limits::kChunkRows, kMostValues / head.metrics);
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    proto::InstructionCounts& message = messages.emplace_back();
    std::map<std::uint32_t, std::uint32_t> positions;  // of functions in this message
    std::int64_t pc = 0;
    for (std::size_t name_bytes = 0; end < rows.size() && end - begin < most_rows && name_bytes <= kMostNameBytes; ++end) {
      const auto [known, is_new] = positions.try_emplace(rows[end].function, static_cast<std::uint32_t>(message.functions_size()));
      if (is_new) {
        *message.add_functions() = functions[rows[end].function];
        name_bytes += functions[rows[end].function].name().size();
      }
      message.add_function(known->second);
      message.add_pc_delta(std::int64_t{rows[end].pc} - pc);
      pc = rows[end].pc;
    }
    for (std::uint32_t metric = 0; metric < head.metrics; ++metric) {
      if ((head.known >> metric & 1) == 0) continue;
      message.add_metrics(metrics[metric]);
      for (std::size_t row = begin; row < end; ++row) message.add_values(values[row * head.metrics + metric]);
    }
  }
  return messages;
}

}  // namespace lanescope::kernel_metrics
