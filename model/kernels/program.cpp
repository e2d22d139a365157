#include "model/kernels/program.h"

#include <system_error>

namespace lanescope::kernels {

std::optional<Program> program_of(const Trace& trace) {
  const Provenance& provenance = trace.provenance();
  if (provenance.command.empty()) return std::nullopt;
  std::error_code ignored;
  const bool is_here =
      std::filesystem::path(provenance.working_directory).is_absolute() && std::filesystem::is_directory(provenance.working_directory, ignored);
  return Program{provenance.command, is_here ? provenance.working_directory : std::string()};
}

}  // namespace lanescope::kernels
