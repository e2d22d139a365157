// What rules collect in one pass over the work of GPUs: all rules that are answered together share the pass. Internal to model/analysis.
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

// Looks at all operations in the time of a context, and then keeps what was collected.
//
// Rules say in advance what they will ask for (Rule::collect), and those collectors go through the work together. A collector that is asked for without
// being wanted before goes through it alone. A collector is constructed from (const RuleContext&, const Key&), keeps nothing of the context except
// shared data, and is not changed afterwards.
//
// Threads: any, except that want() and collect() must come before all other calls.
class SharedCollectors {
 public:
  using Key = std::vector<std::int64_t>;  // distinguishes two collectors of a kind

  template <typename Collector>
  void want(const RuleContext& context, const Key& key = {}) {
    Entry& entry = entry_of(typeid(Collector), key);
    if (!entry.collector) entry.collector = std::make_unique<Collector>(context, key);
  }
  // Adds another visitor, which its owner asks for what it collected.
  void want(OperationVisitor& other) {
    if (std::find(others_.begin(), others_.end(), &other) == others_.end()) others_.push_back(&other);
  }
  // The wanted collectors go through the work. When asked to stop, it ends early.
  void collect(const RuleContext& context);

  // O(operations) if it was not wanted before, and is asked for the first time.
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
  std::map<std::pair<std::type_index, Key>, Entry> entries_;  // whose addresses stay
};

}  // namespace lanescope::analysis
