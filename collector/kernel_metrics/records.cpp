#include "kernel_metrics/records.h"

#include <cstring>
#include <fstream>

namespace lanescope::kernel_metrics {
namespace {

// The parts of a record behind its fixed one.
class Parts {
 public:
  explicit Parts(const std::vector<char>& rest) : rest_(rest) {}
  // False where there is not so much left.
  template <typename Bytes>
  bool take(std::uint64_t size, Bytes& part) {
    if (size > rest_.size() - at_) return false;
    part.assign(rest_.begin() + static_cast<std::ptrdiff_t>(at_), rest_.begin() + static_cast<std::ptrdiff_t>(at_ + size));
    at_ += size;
    return true;
  }

 private:
  const std::vector<char>& rest_;
  std::size_t at_ = 0;
};

// Requires: the head was read already. The fixed part, and all behind it.
template <typename Record>
bool read(std::ifstream& file, const channel::RecordHead& head, Record& record, std::vector<char>& rest) {
  if (head.bytes < sizeof(record) || head.bytes > channel::kMostCounterBytes) return false;
  record.head = head;
  file.read(reinterpret_cast<char*>(&record) + sizeof(head), sizeof(record) - sizeof(head));
  rest.resize(head.bytes - sizeof(record));
  file.read(rest.data(), static_cast<std::streamsize>(rest.size()));
  return static_cast<bool>(file);
}

}  // namespace

ProcessRecords read_records(const std::filesystem::path& path) {
  ProcessRecords records;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> rest;
  channel::RecordHead head;
  while (file.read(reinterpret_cast<char*>(&head), sizeof(head))) {
    bool is_whole = false;
    if (head.mark == channel::kCounterRecordMark) {
      Counted counted{};
      is_whole = read(file, head, counted.record, rest);
      Parts parts(rest);
      is_whole = is_whole && parts.take(counted.record.name_bytes, counted.kernel) && parts.take(counted.record.reason_bytes, counted.reason) &&
                 parts.take(counted.record.image_bytes, counted.image);
      if (is_whole) records.counted.push_back(std::move(counted));
    } else if (head.mark == channel::kKernelRecordMark) {
      RanKernel kernel{};
      is_whole = read(file, head, kernel.record, rest) && Parts(rest).take(kernel.record.name_bytes, kernel.name);
      if (is_whole) records.kernels.push_back(std::move(kernel));
    }
    if (!is_whole) {
      records.is_cut = true;
      return records;
    }
  }
  records.is_cut = file.gcount() != 0;
  return records;
}

}  // namespace lanescope::kernel_metrics
