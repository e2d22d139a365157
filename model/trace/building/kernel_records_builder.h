// Puts together what a trace knows of kernels beyond their times.
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
  // Parts of code come in the order of their offsets, and those that lie within what is there take its place; false for one that does not fit.
  bool add_code(ProcessId process, std::uint64_t crc, std::uint64_t size, std::uint64_t offset, std::string_view part);
  GpuFunctionId function(const GpuFunction& function);
  // kNone where there are more than hardware has.
  std::uint32_t reason(std::string_view name);
  void add(PcSampleWindow window);
  // kNone where there are more than hardware has.
  std::uint32_t metric(std::string_view name);
  void add(MeasuredLaunch launch);
  void add(InstructionCounts counts);
  void add(LeftOutKernel kernel);
  void add(SourceText source);  // of paths that are there already nothing is taken

  // Without what code takes that is usual: libraries load much of which little runs, and the rest is zeros in the file.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // What there is now; the same value again where nothing was added.
  [[nodiscard]] std::shared_ptr<const KernelRecords> publish();

 private:
  KernelRecords records_;
  std::vector<std::shared_ptr<CodeObject>> code_objects_;  // those of records_, which grow until someone holds them
  std::map<std::pair<ProcessId, std::uint64_t>, std::size_t> code_;
  // By code, and by name there; by position in its symbol table where a function has no name.
  std::map<std::tuple<ProcessId, std::uint64_t, NameId, std::uint32_t>, GpuFunctionId> functions_;
  RowIndex metrics_;         // of records_.metrics
  std::uint64_t bytes_ = 0;  // but for code
  std::uint64_t code_bytes_ = 0;
  std::shared_ptr<const KernelRecords> published_;
};

}  // namespace lanescope
