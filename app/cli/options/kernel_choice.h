// Which kernels are meant, of a program that is measured and of what a file holds: by name, number of the launch and GPU, as ncu spells it.
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

// Whether a kernel's name is one that was asked for (session::KernelCounterSettings::kernel): the function's, or "regex:" and an extended regular expression.
class NameChoice {
 public:
  explicit NameChoice(const std::string& wanted);  // a pattern that is none fits nothing: see check_kernel_name()
  [[nodiscard]] bool fits(const kernels::KernelNameOf& name) const;

 private:
  struct Free {
    void operator()(regex_t* pattern) const;
  };
  std::string exact_;  // empty: any, without a pattern
  std::unique_ptr<regex_t, Free> pattern_;
  bool is_pattern_ = false;
};

// Fails with one sentence where a pattern is none.
[[nodiscard]] Result<void> check_kernel_name(const std::string& wanted);

struct KernelChoice {
  std::string name;                    // as NameChoice has it
  std::uint32_t skip = 0;              // launches before the first, of those whose name and GPU fit
  std::uint32_t count = 0;             // and so many from there; 0: all
  std::vector<std::uint32_t> devices;  // CUDA's numbers of GPUs; empty: all
};

// "CONTEXT:STREAM:[regex:]NAME:INVOCATION", of which the name and, beside an exact one, a number of the launch from 1 are taken. Fails with one sentence where
// there is more, which says what to use.
[[nodiscard]] Result<void> set_kernel_id(const std::string& id, KernelChoice& choice);
// "0,1". Fails with one sentence.
[[nodiscard]] Result<void> set_devices(const std::string& list, KernelChoice& choice);

// What was measured of those kernels alone, in the same order. `trace`: the one that it is of; null: there is none.
[[nodiscard]] kernels::RecordedMetrics chosen_kernels(kernels::RecordedMetrics recorded, const Trace* trace, const KernelChoice& choice);

}  // namespace lanescope::cli
