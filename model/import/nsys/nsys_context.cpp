#include "nsys_context.h"

#include <algorithm>

namespace lanescope::importers {
namespace {

// Converts "5c9a5380-d76d-414b-3975-d82cbaebab73", with or without hyphens or a leading "GPU-", to its 16 bytes. Empty for other texts.
std::string raw_uuid(std::string_view text) {
  if (text.starts_with("GPU-")) text.remove_prefix(4);
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '-') continue;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return {};
    if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high * 16 + digit);
      high = -1;
    }
  }
  return bytes.size() == 16 && high < 0 ? bytes : std::string{};
}

}  // namespace

Nanoseconds duration_between(const TableRows& rows, int start, int end) { return rows.is_null(end) ? 0 : difference(rows.integer(end), rows.integer(start)); }

Error unreadable(std::string_view table, const TableRows& rows) { return Error{"its table " + std::string(table) + " can't be read: " + rows.failure()}; }

NsysContext::NsysContext(const Database& source, TraceBuilder& target, const LoadProgress& progress) : database(source), builder(target), progress_(progress) {}

Result<void> NsysContext::read_dictionaries() {
  constexpr std::string_view kTable = "StringIds";
  constexpr std::string_view kColumns[] = {"id", "value"};
  constexpr std::size_t kSmallGap = 65'536;
  TableRows rows = database.rows(kTable, kColumns);
  for (std::size_t read = 0; rows.next(); ++read) {
    const std::int64_t id = rows.integer(0);
    const auto position = static_cast<std::size_t>(id);  // a negative id becomes larger than any position
    if (far_strings_.empty() && position >= strings_.size() && position <= 2 * read + kSmallGap) strings_.resize(position + 1);
    (position < strings_.size() ? strings_[position] : far_strings_[id]) = rows.text(1);
  }
  if (!rows.failure().empty()) return unreadable(kTable, rows);
  read_gpus();
  return read_unfinished();
}

Result<void> NsysContext::read_unfinished() {
  constexpr std::string_view kTable = "LANESCOPE_UNFINISHED";
  constexpr std::string_view kColumns[] = {"tableName", "eventId", "seenUntil"};
  TableRows rows = database.rows(kTable, kColumns);
  while (rows.next() && !is_too_much()) {
    const std::string_view table = rows.text(0);
    auto found = unfinished_.find(table);
    if (found == unfinished_.end()) {
      keep(cost::kName + table.size());
      found = unfinished_.emplace(table, std::unordered_map<std::int64_t, Nanoseconds>()).first;
    }
    if (found->second.emplace(rows.integer(1), rows.integer(2)).second) keep(cost::kEvent);
  }
  return rows.failure().empty() ? Result<void>() : unreadable(kTable, rows);
}

std::optional<Nanoseconds> NsysContext::unfinished(std::string_view table, std::int64_t row) const {
  const auto of_table = unfinished_.find(table);
  if (of_table == unfinished_.end()) return std::nullopt;
  const auto found = of_table->second.find(row);
  return found == of_table->second.end() ? std::nullopt : std::optional(found->second);
}

void NsysContext::read_gpus() {
  constexpr std::string_view kColumns[] = {
      "id",           "name",        "busLocation",     "uuid",      "cuDevice",      "smCount",        "computeMajor",
      "computeMinor", "totalMemory", "memoryBandwidth", "clockRate", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
      "maxShmemPerSm"};
  const std::string_view table = database.has_table("TARGET_INFO_GPU") ? "TARGET_INFO_GPU" : "TARGET_INFO_CUDA_GPU";
  TableRows rows = database.rows(table, kColumns);
  while (rows.next()) {
    const auto number = [&](int column) { return static_cast<std::uint32_t>(rows.integer(column)); };
    Gpu gpu;
    gpu.name = rows.text(1);
    gpu.bus_id = rows.text(2);
    gpu.uuid = raw_uuid(rows.text(3));
    gpu.ordinal = rows.is_null(4) ? number(0) : number(4);
    gpu.multiprocessor_count = number(5);
    gpu.compute_major = number(6);
    gpu.compute_minor = number(7);
    gpu.memory_bytes = static_cast<std::uint64_t>(rows.integer(8));
    gpu.memory_bandwidth = static_cast<std::uint64_t>(rows.integer(9));
    gpu.core_clock_khz = static_cast<std::uint32_t>(rows.integer(10) / 1000);
    gpu.max_warps_per_multiprocessor = number(11);
    gpu.max_blocks_per_multiprocessor = number(12);
    gpu.max_registers_per_multiprocessor = number(13);
    gpu.max_shared_memory_per_multiprocessor = static_cast<std::uint64_t>(rows.integer(14));
    gpus_.emplace(rows.integer(0), std::move(gpu));
  }
  for (const auto& [id, gpu] : gpus_) gpu_of_ordinal_.emplace(gpu.ordinal, id);
  constexpr std::string_view kDeviceColumns[] = {"gpuId", "cudaId", "pid"};
  TableRows devices = database.rows("TARGET_INFO_CUDA_DEVICE", kDeviceColumns);
  while (devices.next()) gpu_of_device_[{static_cast<std::uint32_t>(devices.integer(2)), static_cast<std::uint32_t>(devices.integer(1))}] = devices.integer(0);
}

std::string_view NsysContext::text(std::int64_t string_id) const {
  if (string_id >= 0 && static_cast<std::size_t>(string_id) < strings_.size()) return strings_[static_cast<std::size_t>(string_id)];
  const auto found = far_strings_.find(string_id);
  return found == far_strings_.end() ? std::string_view{} : std::string_view{found->second};
}

NameId NsysContext::name(std::int64_t string_id) {
  const auto [found, inserted] = names_.try_emplace(string_id, 0);
  if (inserted) found->second = builder.intern(text(string_id));
  return found->second;
}

ProcessId NsysContext::process(std::int64_t global_id) {
  const std::int64_t global_pid = without_thread(global_id);
  if (last_process_ != kNone && global_pid == last_global_pid_) return last_process_;
  const auto [found, inserted] = processes_.try_emplace(global_pid, kNone);
  if (inserted) {
    keep(cost::kProcess);
    found->second = builder.process_of_instance(static_cast<std::uint32_t>(processes_.size()));
    builder.process(found->second).pid = pid_of(global_pid);
  }
  last_global_pid_ = global_pid;
  last_process_ = found->second;
  return last_process_;
}

ThreadId NsysContext::thread(std::int64_t global_tid) {
  if (last_thread_ != kNone && global_tid == last_global_tid_) return last_thread_;
  const auto [found, inserted] = threads_.try_emplace(global_tid, kNone);
  if (inserted) {
    keep(cost::kThread);
    found->second = builder.thread(process(global_tid), tid_of(global_tid));
  }
  last_global_tid_ = global_tid;
  last_thread_ = found->second;
  return last_thread_;
}

std::optional<ThreadId> NsysContext::known_thread(std::int64_t global_tid) const {
  const auto found = threads_.find(global_tid);
  if (found == threads_.end()) return std::nullopt;
  return found->second;
}

void NsysContext::name_thread(ThreadId id, std::string_view name) {
  keep_text(name);
  builder.name_thread(id, name);
}
void NsysContext::name_domain(std::int64_t global_id, std::uint32_t id, std::string_view name) {
  keep_text(name);
  builder.set_domain(process(global_id), id, name);
}
void NsysContext::name_category(std::int64_t global_id, std::uint32_t domain, std::uint32_t id, std::string_view name) {
  keep_text(name);
  builder.set_category(process(global_id), domain, id, name);
}

GpuId NsysContext::device(std::int64_t global_pid, std::uint32_t ordinal) {
  const ProcessId owner = process(global_pid);
  if (devices_.insert({owner, ordinal}).second) {
    keep(cost::kGpu);
    const auto device = gpu_of_device_.find({pid_of(global_pid), ordinal});
    auto gpu = device == gpu_of_device_.end() ? gpus_.end() : gpus_.find(device->second);
    // Older files do not say how a process numbers its GPUs: then the numbers of the machine are used.
    if (const auto same = gpu_of_ordinal_.find(ordinal); gpu == gpus_.end() && same != gpu_of_ordinal_.end()) gpu = gpus_.find(same->second);
    if (gpu != gpus_.end()) builder.set_device(owner, ordinal, gpu->second);
  }
  return builder.gpu_of_device(owner, ordinal);
}

bool NsysContext::report() {
  if (progress_ && expected_rows_ > 0) {
    const double fraction = std::min(1.0, static_cast<double>(rows_) / static_cast<double>(expected_rows_));
    cancelled_ = progress_(fraction, nullptr) == LoadStep::kCancel;
  }
  return !cancelled_;
}

}  // namespace lanescope::importers
