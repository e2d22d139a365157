#include "kernel_records_builder.h"

#include <algorithm>

#include "model/file/limits.h"

namespace lanescope {
namespace {

constexpr std::uint64_t kNodeBytes = 96;
constexpr std::uint64_t kTextCopiesOfRecords = 2;  // of a text: here, and in the result of publish()
constexpr std::uint64_t kBytesOfCode = 4;          // the most that a byte of code takes once its symbols and lines are read
constexpr std::uint64_t kUsualCode = 128u << 20;   // bytes
constexpr std::uint64_t kBytesOfSample = 64;       // that a sample takes, including sums of all samples
constexpr std::uint64_t kBytesOfCount = 256;       // that a counted instruction takes beside its values, including sums of all
constexpr std::size_t kMostMetrics = 65'536;       // thirty times the size of the largest set
constexpr std::size_t kMostReasons = 128;          // three times the number of hardware
constexpr std::size_t kMostSources = 4'096;        // files
constexpr std::size_t kLongestPath = 4'096;        // bytes
constexpr std::size_t kLargestSource = 16u << 20;

}  // namespace

const CodeObject* KernelRecords::find_code(ProcessId process, std::uint64_t crc) const noexcept {
  for (const auto& object : code)
    if (object->process == process && object->crc == crc) return object.get();
  return nullptr;
}

const SourceText* KernelRecords::find_source(std::string_view path) const noexcept {
  for (const auto& source : sources)
    if (source->path == path) return source.get();
  return nullptr;
}

std::uint64_t KernelRecordsBuilder::memory_bytes() const noexcept {
  return bytes_ + (code_bytes_ > kUsualCode ? kBytesOfCode * (code_bytes_ - kUsualCode) : 0);
}

bool KernelRecordsBuilder::add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part) {
  const auto [known, is_new] = code_.try_emplace({process, crc}, code_objects_.size());
  if (is_new) {
    code_objects_.push_back(std::make_shared<CodeObject>(CodeObject{process, crc, size, {}}));
    records_.code.push_back(code_objects_.back());
    bytes_ += sizeof(CodeObject) + kNodeBytes;
    published_.reset();
  }
  std::shared_ptr<CodeObject>& object = code_objects_[known->second];
  if (object->size != size || offset > object->image.size() || part.size() > size - offset) return false;
  constexpr long kOwners = 2;  // this object, and records_
  if (object.use_count() > kOwners) object = std::make_shared<CodeObject>(*object);
  const std::size_t before = object->image.size();
  object->image.replace(static_cast<std::size_t>(offset), part.size(), part);
  records_.code[known->second] = object;
  code_bytes_ += object->image.size() - before;
  published_.reset();
  return true;
}

GpuFunctionId KernelRecordsBuilder::function(const GpuFunction& function) {
  const std::uint32_t place = function.mangled == 0 ? function.index : 0;
  const auto [known, is_new] =
      functions_.try_emplace({function.process, function.code_object, function.mangled, place}, static_cast<GpuFunctionId>(records_.functions.size()));
  if (GpuFunction* const before = is_new ? nullptr : &records_.functions[known->second]; before != nullptr && before->index == 0 && function.index != 0) {
    before->index = function.index;
    published_.reset();
  }
  if (is_new) {
    records_.functions.push_back(function);
    bytes_ += sizeof(GpuFunction) + kNodeBytes;
    published_.reset();
  }
  return known->second;
}

std::uint32_t KernelRecordsBuilder::reason(std::string_view name) {
  const auto known = std::find(records_.reasons.begin(), records_.reasons.end(), name);
  if (known != records_.reasons.end()) return static_cast<std::uint32_t>(known - records_.reasons.begin());
  if (records_.reasons.size() == kMostReasons) return kNone;
  records_.reasons.emplace_back(name.substr(0, limits::kTextBytes));
  bytes_ += name.size() + kNodeBytes;
  published_.reset();
  return static_cast<std::uint32_t>(records_.reasons.size() - 1);
}

void KernelRecordsBuilder::add(PcSampleWindow window) {
  bytes_ += sizeof(PcSampleWindow) + window.samples.size() * kBytesOfSample + kNodeBytes;
  records_.windows.push_back(std::make_shared<const PcSampleWindow>(std::move(window)));
  published_.reset();
}

std::uint32_t KernelRecordsBuilder::metric(std::string_view name) {
  name = name.substr(0, limits::kTextBytes);
  const std::uint64_t hash = hash_of(name);
  const std::uint32_t known = metrics_.find(hash, [&](std::uint32_t row) { return records_.metrics[row] == name; });
  if (known != kNone || metrics_.size() == kMostMetrics) return known;
  bytes_ += kTextCopiesOfRecords * name.size() + kNodeBytes;
  metrics_.append(hash, [&](std::uint32_t row) { return hash_of(records_.metrics[row]); });
  records_.metrics.emplace_back(name);
  published_.reset();
  return metrics_.size() - 1;
}

void KernelRecordsBuilder::add(MeasuredLaunch launch) {
  bytes_ += sizeof(MeasuredLaunch) + launch.values.size() * sizeof(MetricValue) + launch.other_launches.size() * sizeof(std::uint32_t) + kNodeBytes;
  records_.measured.push_back(std::make_shared<const MeasuredLaunch>(std::move(launch)));
  published_.reset();
}

void KernelRecordsBuilder::add(InstructionCounts counts) {
  bytes_ += sizeof(InstructionCounts) + counts.values.size() * sizeof(std::uint64_t) + counts.rows.size() * kBytesOfCount + kNodeBytes;
  records_.counted.push_back(std::make_shared<const InstructionCounts>(std::move(counts)));
  published_.reset();
}

void KernelRecordsBuilder::add(LeftOutKernel kernel) {
  bytes_ += kTextCopiesOfRecords * (sizeof(LeftOutKernel) + kernel.name.size() + kernel.reason.size()) + kNodeBytes;
  records_.left_out.push_back(std::move(kernel));
  published_.reset();
}

void KernelRecordsBuilder::add(SourceText source) {
  if (records_.sources.size() == kMostSources || source.path.size() > kLongestPath || source.text.size() > kLargestSource ||
      records_.find_source(source.path) != nullptr)
    return;
  bytes_ += sizeof(SourceText) + source.path.size() + source.text.size() + kNodeBytes;
  records_.sources.push_back(std::make_shared<const SourceText>(std::move(source)));
  published_.reset();
}

std::shared_ptr<const KernelRecords> KernelRecordsBuilder::publish() {
  if (!published_) published_ = std::make_shared<const KernelRecords>(records_);
  return published_;
}

}  // namespace lanescope
