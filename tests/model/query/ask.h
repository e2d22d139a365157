// Questions, and comparisons of their answers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/import/open_trace.h"
#include "model/query/query.h"
#include "model/stats/format.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

inline const std::vector<std::string>& recordings() {
  static const std::vector<std::string> kNames = {"cuda_streams", "numba_streams", "torch_training_workers4", "torch_graph", "unified_memory",
                                                  "gpu_metrics",  "cpu_loader",    "torch_loader_samples"};
  return kNames;
}

inline std::shared_ptr<const Trace> recorded(const std::string& name) {
  auto trace = open_trace(data_file(name + ".trace"));
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

// The answer as tab-separated lines, without the titles.
inline std::string answered(const Trace& trace, std::string_view sql, const query::QueryOptions& options = {}) {
  const Result<query::QueryAnswer> answer = query::run_query(trace, sql, options);
  if (!answer) FAIL(std::string(sql) << ": " << answer.error().text);
  const std::string text = stats::format_table(answer->table, stats::Format::kTsv);
  return text.substr(text.find('\n') + 1);
}

}  // namespace lanescope::test
