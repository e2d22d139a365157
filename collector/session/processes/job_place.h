// Where a process stands in a job of several: what its launcher said in its environment. A fixed list of variables is looked at, no other.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

// The list.
[[nodiscard]] std::span<const std::string_view> job_variables();

// Of torchrun, Open MPI, MPICH and Intel MPI, MVAPICH, Horovod, PMIx, Slurm and indexed jobs of Kubernetes, the first that gave the process a
// rank; the job's id also of Ray, PBS and LSF. `variables`: what the process was started with.
[[nodiscard]] proto::JobPlace job_place(const std::map<std::string, std::string>& variables);

}  // namespace lanescope::session
