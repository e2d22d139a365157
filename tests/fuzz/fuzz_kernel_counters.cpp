// The files by which a recording and its programs exchange counters of kernels. The first byte selects the file: the plan, the records of a program, or the
// image of counted instructions.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fuzz_target.h"
#include "kernel_metrics/evaluation.h"
#include "kernel_metrics/instruction_image.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/records.h"
#include "model/file/limits.h"
#include "scratch_folder.h"

using namespace lanescope;
using namespace lanescope::kernel_metrics;

namespace {

const std::vector<std::string> kMetrics{"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed"};

template <typename Message>
void check(const Message& message) {
  const std::string bytes = message.SerializeAsString();
  Message same;
  if (bytes.size() > kMaximumPayloadBytes || !same.ParseFromString(bytes)) std::abort();
}

void evaluate(const std::filesystem::path& records) {
  (void)read_kernels(records);
  Evaluation evaluation(nullptr, {channel::CounterKind::kInstructions, channel::CounterReplay::kNone, {{"GH100", 1, kMetrics}}});
  const Evaluated result = evaluation.evaluate(records);
  for (const auto& each : result.instructions) check(each);
  for (const auto& each : result.metrics) check(each);
  for (const auto& each : result.code) check(each);
}

template <typename Part>
std::string bytes_of(const Part& part) {
  return {reinterpret_cast<const char*>(&part), sizeof(part)};
}

template <typename Record>
std::string whole(Record record, std::uint32_t mark, const std::string& parts) {
  record.head = {mark, 0, sizeof(record) + parts.size()};
  return bytes_of(record) + parts;
}

std::string image() {
  const std::string name = "_Z4copyPf";
  std::string bytes = bytes_of(channel::InstructionImage{2, 1, 2, 3});
  bytes += bytes_of(channel::CountedFunction{17, 4, static_cast<std::uint32_t>(name.size())}) + name;
  bytes += bytes_of(channel::InstructionRow{0, 16}) + bytes_of(channel::InstructionRow{0, 48});
  for (const std::uint64_t value : {1u, 32u, 2u, 64u}) bytes += bytes_of(value);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const fuzz::ScratchFolder folder;
  const auto write = [&](const char* name) {
    const std::filesystem::path path = folder.path() / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
    return path;
  };
  switch (data[0] % 3) {
    case 0:
      write(channel::kCounterPlanFile);
      (void)read_plan(folder.path());
      break;
    case 1:
      evaluate(write("1"));
      break;
    default:
      for (const auto& counts : instruction_counts({data + 1, size - 1}, kMetrics)) check(counts);
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  const std::string name = "_Z4copyPf", reason = "Too late.";
  channel::CounterRecord counted{};
  counted.correlation = 5;
  counted.name_bytes = name.size();
  counted.image_bytes = image().size();
  channel::CounterRecord left_out{};
  left_out.outcome = channel::CounterOutcome::kLeftOut;
  left_out.name_bytes = name.size();
  left_out.reason_bytes = reason.size();
  channel::KernelRecord kernel{};
  kernel.correlation = 5;
  kernel.block[0] = 32;
  kernel.name_bytes = name.size();
  channel::BeginRecord begin{};
  begin.correlation = 6;
  begin.name_bytes = name.size();
  channel::CodeRecord code{};
  code.crc = 17;
  code.code_bytes = 4;
  const std::string records = whole(counted, channel::kCounterRecordMark, name + image()) + whole(kernel, channel::kKernelRecordMark, name) +
                              whole(left_out, channel::kCounterRecordMark, name + reason) + whole(begin, channel::kBeginRecordMark, name) +
                              whole(code, channel::kCodeRecordMark, "code");

  const fuzz::ScratchFolder folder;
  PlanWriter writer(kMetrics, channel::LaunchChoice{});
  if (!writer.write(folder.path())) std::abort();
  std::ifstream plan(folder.path() / channel::kCounterPlanFile, std::ios::binary);
  return {'\0' + std::string(std::istreambuf_iterator<char>(plan), {}), '\1' + records, '\2' + image()};
}
