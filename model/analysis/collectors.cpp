#include "collectors.h"

namespace lanescope::analysis {

void SharedCollectors::collect(const RuleContext& context) {
  std::vector<OperationVisitor*> wanted = std::move(others_);
  for (const auto& [key, entry] : entries_)
    if (entry.collector && !entry.is_complete) wanted.push_back(entry.collector.get());
  visit_operations(context.trace, context.time, wanted, context.stop);
  for (auto& [key, entry] : entries_) entry.is_complete = entry.collector != nullptr;
}

std::shared_ptr<SharedCollectors> share_collectors() { return std::make_shared<SharedCollectors>(); }

}  // namespace lanescope::analysis
