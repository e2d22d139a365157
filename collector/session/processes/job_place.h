// Where a process stands in a job of several: what its launcher said in its environment. A fixed list of variables is looked at, no other.
#pragma once

#include <sys/types.h>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

// Of torchrun, Open MPI, MPICH and Intel MPI, MVAPICH, Horovod, PMIx, Slurm and indexed jobs of Kubernetes, the first that gave the process a
// rank; the job's id also of Ray, PBS and LSF. Empty where there is none, and of a process that is gone or belongs to someone else.
[[nodiscard]] proto::JobPlace job_place(pid_t pid);

}  // namespace lanescope::session
