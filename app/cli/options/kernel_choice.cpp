#include "options/kernel_choice.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "checks.h"
#include "model/trace/text/kernel_name.h"

namespace lanescope::cli {
namespace {

constexpr std::string_view kPattern = "regex:";

std::optional<std::uint32_t> natural(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

void NameChoice::Free::operator()(regex_t* pattern) const {
  regfree(pattern);
  delete pattern;
}

NameChoice::NameChoice(const std::string& wanted) : is_pattern_(wanted.starts_with(kPattern)) {
  if (!is_pattern_) {
    exact_ = wanted;
    return;
  }
  auto pattern = std::make_unique<regex_t>();
  if (regcomp(pattern.get(), wanted.c_str() + kPattern.size(), REG_EXTENDED | REG_NOSUB) == 0) pattern_.reset(pattern.release());
}

bool NameChoice::fits(const kernels::KernelNameOf& name) const {
  if (is_pattern_) return pattern_ && regexec(pattern_.get(), std::string(name.function).c_str(), 0, nullptr, 0) == 0;
  return exact_.empty() || name.function == exact_ || name.mangled == exact_;
}

Result<void> check_kernel_name(const std::string& wanted) {
  if (!wanted.starts_with(kPattern)) return {};
  regex_t pattern;
  if (const int problem = regcomp(&pattern, wanted.c_str() + kPattern.size(), REG_EXTENDED | REG_NOSUB); problem != 0) {
    char why[256] = {};
    regerror(problem, &pattern, why, sizeof(why));
    return usage_error("--kernel-name " + wanted + " is no extended regular expression: " + why + ".");
  }
  regfree(&pattern);
  return {};
}

Result<void> set_kernel_id(const std::string& id, KernelChoice& choice) {
  const std::size_t stream = id.find(':');
  const std::size_t name = stream == std::string::npos ? stream : id.find(':', stream + 1);
  const std::size_t number = id.rfind(':');
  if (name == std::string::npos || number == name)
    return usage_error("--kernel-id " + id + " is not CONTEXT:STREAM:[regex:]NAME:INVOCATION, such as ::saxpy:2.");
  if (name != 1)
    return usage_error("--kernel-id " + id +
                       " names a context or stream, which choose no kernels here: name the kernel (::NAME:N), or an NVTX range with --nvtx-include.");
  choice.name = id.substr(name + 1, number - name - 1);
  const std::string invocation = id.substr(number + 1);
  if (invocation.empty()) return {};
  const std::optional<std::uint32_t> nth = natural(invocation);
  if (!nth || *nth == 0 || choice.name.empty() || choice.name.starts_with(kPattern))
    return usage_error(
        "--kernel-id " + id +
        ": the number of a launch is one, from 1, beside the name of one kernel (::saxpy:2). Launches in a row: --kernel-name, --launch-skip, --launch-count");
  choice.skip = *nth - 1;
  choice.count = 1;
  return {};
}

Result<void> set_devices(const std::string& list, KernelChoice& choice) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::optional<std::uint32_t> device = natural(std::string_view(list).substr(begin, end - begin));
    if (!device) return usage_error("--devices takes numbers of GPUs, such as 0,1, not " + list + ".");
    choice.devices.push_back(*device);
    begin = end + 1;
  }
  return {};
}

kernels::RecordedMetrics chosen_kernels(kernels::RecordedMetrics recorded, const Trace* trace, const KernelChoice& choice) {
  const NameChoice name(choice.name);
  const std::vector<kernels::Metric> metrics(recorded.metrics.metrics().begin(), recorded.metrics.metrics().end());
  kernels::RecordedMetrics chosen{kernels::KernelMetrics(metrics), {}, {}};
  std::uint64_t fitting = 0;
  for (std::size_t i = 0; i < recorded.metrics.kernels().size(); ++i) {
    const kernels::ProfiledKernel& kernel = recorded.metrics.kernels()[i];
    const std::string_view mangled = trace == nullptr ? std::string_view() : trace->name(kernel.detail.mangled_name);
    const bool is_on_device = choice.devices.empty() || std::find(choice.devices.begin(), choice.devices.end(), kernel.device) != choice.devices.end();
    if (!is_on_device || !name.fits({short_kernel_name(kernel.name), mangled})) continue;
    const std::uint64_t number = fitting++;
    if (number < choice.skip || (choice.count != 0 && number - choice.skip >= choice.count)) continue;
    chosen.metrics.add(kernel);
    chosen.numbers.push_back(recorded.number(i));
    if (!recorded.measurements.empty()) chosen.measurements.push_back(recorded.measurements[i]);
  }
  for (LeftOutKernel& left_out : recorded.left_out)
    if (name.fits({short_kernel_name(left_out.name), {}})) chosen.left_out.push_back(std::move(left_out));
  return chosen;
}

}  // namespace lanescope::cli
