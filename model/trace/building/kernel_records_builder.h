// Assembles what a trace knows of kernels beyond their times.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/trace/kernel_records.h"
#include "row_index.h"

namespace lanescope {

class KernelRecordsBuilder {
 public:
  // Parts of code must come in the order of their offsets; parts that overlap with what is there replace it. Returns false for a part that does not
  // fit.
  bool add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part);
  GpuFunctionId function(const GpuFunction& function);
  // Returns kNone if there are more than hardware has.
  std::uint32_t reason(std::string_view name);
  void add(PcSampleWindow window);
  // Returns kNone if there are more than hardware has.
  std::uint32_t metric(std::string_view name);
  void add(MeasuredLaunch launch);
  void add(InstructionCounts counts);
  void add(LeftOutKernel kernel);
  void add(SourceText source);  // nothing is taken if its path is there already

  // Code up to a usual size is not counted: libraries load much code of which little runs, and the rest is zeros in the file.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // The records so far; the same object again if nothing was added.
  [[nodiscard]] std::shared_ptr<const KernelRecords> publish();

 private:
  KernelRecords records_;
  std::vector<std::shared_ptr<CodeObject>> code_objects_;  // the objects of records_, which grow until somebody holds them
  std::map<std::pair<ProcessId, std::uint64_t>, std::size_t> code_;
  // By code, and by name in it; by position in its symbol table if a function has no name.
  std::map<std::tuple<ProcessId, std::uint64_t, NameId, std::uint32_t>, GpuFunctionId> functions_;
  RowIndex metrics_;         // of records_.metrics
  std::uint64_t bytes_ = 0;  // without code
  std::uint64_t code_bytes_ = 0;
  std::shared_ptr<const KernelRecords> published_;
};

}  // namespace lanescope
