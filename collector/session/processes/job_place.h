// The place of a process in a job of several processes, from what its launcher set in its environment. Only a fixed list of variables is read.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

// The names of these variables.
[[nodiscard]] std::span<const std::string_view> job_variables();

// Knows torchrun, Open MPI, MPICH and Intel MPI, MVAPICH, Horovod, PMIx, Slurm and indexed jobs of Kubernetes; the first that gave the process a rank is
// used. The job's id may also come from Ray, PBS and LSF. `variables`: the environment with which the process was started.
[[nodiscard]] proto::JobPlace job_place(const std::map<std::string, std::string>& variables);

}  // namespace lanescope::session
