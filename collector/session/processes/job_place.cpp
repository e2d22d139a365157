#include "processes/job_place.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace lanescope::session {
namespace {

struct Launcher {
  const char* name;
  std::string_view rank, local_rank, world_size, job, step;  // names of variables; empty if the launcher has none
};

// In order of precedence: a launcher that starts processes within a job of another one knows more about them.
constexpr std::array kLaunchers{
    Launcher{"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", {}},
    Launcher{"Horovod", "HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE", {}, {}},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", {}, {}},
    Launcher{"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", {}, {}},
    Launcher{"MPI", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", {}, {}},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"},
    Launcher{"PMIx", "PMIX_RANK", {}, {}, {}, {}},
    Launcher{"Kubernetes", "JOB_COMPLETION_INDEX", {}, {}, {}, {}},
};
// Launchers whose ids also apply to what others start within their jobs.
constexpr std::array kJobs{
    Launcher{"Slurm", {}, {}, {}, "SLURM_JOB_ID", "SLURM_STEP_ID"},
    Launcher{"Ray", {}, {}, {}, "RAY_JOB_ID", {}},
    Launcher{"PBS", {}, {}, {}, "PBS_JOBID", {}},
    Launcher{"LSF", {}, {}, {}, "LSB_JOBID", {}},
    Launcher{"Kubernetes", {}, {}, {}, "JOB_NAME", {}},
    Launcher{"torchrun", {}, {}, {}, "TORCHELASTIC_RUN_ID", {}},
};
constexpr std::size_t kLongestId = 256;  // bytes

class Said {
 public:
  explicit Said(const std::map<std::string, std::string>& variables) : variables_(variables) {}

  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view name) const {
    const auto found = variables_.find(std::string(name));
    if (name.empty() || found == variables_.end()) return std::nullopt;
    const std::string& text = found->second;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const auto found = variables_.find(std::string(name));
    return name.empty() || found == variables_.end() ? std::string() : found->second.substr(0, kLongestId);
  }
  // The script of a batch job has the variables of a task without being one: its step has no number.
  [[nodiscard]] bool ranks(const Launcher& launcher) const { return number(launcher.rank) && (launcher.step.empty() || number(launcher.step)); }

 private:
  const std::map<std::string, std::string>& variables_;
};

}  // namespace

std::span<const std::string_view> job_variables() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    const auto add = [&names](const Launcher& launcher) {
      for (const std::string_view name : {launcher.rank, launcher.local_rank, launcher.world_size, launcher.job, launcher.step})
        if (!name.empty()) names.push_back(name);
    };
    for (const Launcher& launcher : kLaunchers) add(launcher);
    for (const Launcher& launcher : kJobs) add(launcher);
    return names;
  }();
  return kNames;
}

proto::JobPlace job_place(const std::map<std::string, std::string>& variables) {
  proto::JobPlace place;
  const Said said(variables);
  for (const Launcher& launcher : kLaunchers) {
    if (!said.ranks(launcher)) continue;
    place.set_launcher(launcher.name);
    place.set_rank(*said.number(launcher.rank));
    if (const auto local = said.number(launcher.local_rank)) place.set_local_rank(*local);
    if (const auto size = said.number(launcher.world_size)) place.set_world_size(*size);
    break;
  }
  for (const Launcher& job : kJobs) {
    if (said.text(job.job).empty()) continue;
    place.set_scheduler(job.name);
    place.set_job(said.text(job.job));
    if (!said.text(job.step).empty()) place.set_step(said.text(job.step));
    break;
  }
  return place;
}

}  // namespace lanescope::session
