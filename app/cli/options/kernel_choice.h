// Which kernels are meant, in a program that is measured or in a file: by name, number of the launch and GPU, spelled as in ncu.
#pragma once

#include <regex.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"
#include "model/kernels/counters/recorded_metrics.h"
#include "model/kernels/launch_kinds.h"

namespace lanescope::cli {

// Whether a kernel's name is one that was asked for (session::KernelCounterSettings::kernel): the function's name, or "regex:" and an extended regular
// expression.
class NameChoice {
 public:
  explicit NameChoice(const std::string& wanted);  // an invalid pattern fits nothing: see check_kernel_name()
  [[nodiscard]] bool fits(const kernels::KernelNameOf& name) const;

 private:
  struct Free {
    void operator()(regex_t* pattern) const;
  };
  std::string exact_;  // empty: any name, unless there is a pattern
  std::unique_ptr<regex_t, Free> pattern_;
  bool is_pattern_ = false;
};

// Fails with one sentence if a pattern is not valid.
[[nodiscard]] Result<void> check_kernel_name(const std::string& wanted);

struct KernelChoice {
  std::string name;                    // as for NameChoice
  std::uint32_t skip = 0;              // number of launches before the first, counting those whose name and GPU fit
  std::uint32_t count = 0;             // number of launches from there; 0: all
  std::vector<std::uint32_t> devices;  // CUDA's numbers of GPUs; empty: all
};

// Reads "CONTEXT:STREAM:[regex:]NAME:INVOCATION", of which only the name and, with an exact name, a number of the launch from 1 are accepted. If there is
// more, fails with one sentence, which says what to use.
[[nodiscard]] Result<void> set_kernel_id(const std::string& id, KernelChoice& choice);
// Reads "0,1". Fails with one sentence.
[[nodiscard]] Result<void> set_devices(const std::string& list, KernelChoice& choice);

// The measurements of the chosen kernels only, in the same order. `trace`: the trace that they belong to; null if there is none.
[[nodiscard]] kernels::RecordedMetrics chosen_kernels(kernels::RecordedMetrics recorded, const Trace* trace, const KernelChoice& choice);

}  // namespace lanescope::cli
