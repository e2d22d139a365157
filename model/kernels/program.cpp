#include "model/kernels/program.h"

#include <system_error>

#include "model/trace/combining/parts.h"

namespace lanescope::kernels {
namespace {

std::optional<Program> program_of(const Provenance& provenance) {
  if (provenance.command.empty()) return std::nullopt;
  std::error_code ignored;
  const bool is_here =
      std::filesystem::path(provenance.working_directory).is_absolute() && std::filesystem::is_directory(provenance.working_directory, ignored);
  return Program{provenance.command, is_here ? provenance.working_directory : std::string(), provenance.working_directory};
}

}  // namespace

std::optional<Program> program_of(const Trace& trace) { return program_of(trace.provenance()); }

std::optional<Program> program_of(const Trace& trace, ProcessId process) {
  const TracePart* const part = part_of_process(trace, process);
  return program_of(part == nullptr ? trace.provenance() : part->provenance);
}

}  // namespace lanescope::kernels
