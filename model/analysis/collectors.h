// What rules collect while the work of GPUs goes by: all that are answered together go through it once. Internal to model/analysis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

#include "idle/gpu_operations.h"
#include "model/analysis/rule.h"

namespace lanescope::analysis {

// Looks at all operations in the time of a context, and then has what was collected.
//
// Rules say beforehand what they will ask for (Rule::collect), and those collectors go through the work together. What is asked for and was not wanted goes
// through it alone. A collector is made of (const RuleContext&, const Key&), keeps nothing of the context but what it shares, and is not changed afterwards.
//
// Threads: any, but for want() and collect(), which come before all others.
class SharedCollectors {
 public:
  using Key = std::vector<std::int64_t>;  // what tells two of a kind apart

  template <typename Collector>
  void want(const RuleContext& context, const Key& key = {}) {
    Entry& entry = entry_of(typeid(Collector), key);
    if (!entry.collector) entry.collector = std::make_unique<Collector>(context, key);
  }
  // Another one, which whoever has it asks for what it collected.
  void want(OperationVisitor& other) {
    if (std::find(others_.begin(), others_.end(), &other) == others_.end()) others_.push_back(&other);
  }
  // Those that are wanted go through the work. When asked to stop, it ends early.
  void collect(const RuleContext& context);

  // O(operations) where it was not wanted, and is asked for the first time.
  template <typename Collector>
  const Collector& of(const RuleContext& context, const Key& key = {}) {
    Entry& entry = entry_of(typeid(Collector), key);
    std::call_once(entry.once, [&] {
      if (entry.is_complete) return;
      entry.collector = std::make_unique<Collector>(context, key);
      OperationVisitor* const alone = entry.collector.get();
      visit_operations(context.trace, context.time, {&alone, 1}, context.stop);
    });
    return static_cast<const Collector&>(*entry.collector);
  }

 private:
  struct Entry {
    std::unique_ptr<OperationVisitor> collector;
    bool is_complete = false;  // by collect()
    std::once_flag once;
  };
  Entry& entry_of(std::type_index kind, const Key& key) {
    const std::lock_guard lock(mutex_);
    return entries_[{kind, key}];
  }

  std::vector<OperationVisitor*> others_;
  std::mutex mutex_;
  std::map<std::pair<std::type_index, Key>, Entry> entries_;  // which stay where they are
};

}  // namespace lanescope::analysis
