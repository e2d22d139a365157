// A trace of random samples and backtraces, each of which is also kept in its original form.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "model/trace/building/thread_states.h"

namespace lanescope::test {

struct MadeSample {
  ThreadId thread = 0;
  TimeRange time;  // empty for a timed sample
  bool timed = true;
  Nanoseconds period = 0;
  std::vector<std::string> calls;  // names of functions, outermost first
};

// Few functions, so that chains share parts and functions call themselves. Some locations hold inlined functions, some have no symbols.
class RandomSamples {
 public:
  explicit RandomSamples(unsigned seed, int samples = 400) : random_(seed) {
    const ProcessId process = builder_.process_of_instance(1);
    make_locations();
    std::vector<std::vector<SampleEvent>> timed(kThreads), calls(kThreads);
    for (int i = 0; i < samples; ++i) {
      const auto thread = static_cast<std::uint32_t>(number(kThreads));
      MadeSample made;
      made.thread = builder_.thread(process, 100 + thread);
      made.timed = number(3) != 0;
      const CallNodeId chain = make_chain(made.calls);
      const Nanoseconds start = number(kSpan);
      if (made.timed) {
        made.period = 10 * (1 + number(2));
        made.time = {start, start};
        timed[thread].push_back({start, 0, {chain, SampleOrigin::kTimer, kNone, made.period}});
      } else {
        made.time = {start, start + 1 + number(50)};
        calls[thread].push_back({start, made.time.length(), {chain, SampleOrigin::kOsCall}});
      }
      made_.push_back(made);
    }
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      add_samples(builder_, process, 100 + thread, timed[thread]);
      add_samples(builder_, process, 100 + thread, calls[thread]);
    }
    trace_ = builder_.snapshot();
  }

  const Trace& trace() const { return *trace_; }
  const std::vector<MadeSample>& made() const { return made_; }
  static constexpr int kThreads = 3;
  static constexpr Nanoseconds kSpan = 1'000;

 private:
  int number(long below) { return static_cast<int>(std::uniform_int_distribution<long>(0, below - 1)(random_)); }

  void make_locations() {
    const NameId module = builder_.intern("/lib/libwork.so");
    for (int i = 0; i < 8; ++i) {
      const std::string name = "f" + std::to_string(i % 5);  // several locations in one function
      const CodeFunction function{builder_.intern(name), builder_.intern("work.cpp"), static_cast<std::uint32_t>(10 + i)};
      locations_.push_back(builder_.code_location({CodeKind::kNative, module, 0, static_cast<std::uint64_t>(100 + i)}, function));
      names_.push_back({name});
    }
    locations_.push_back(builder_.code_location({CodeKind::kNative, module, 0, 500}, {}));
    builder_.set_functions(locations_.back(), {{builder_.intern("inlined"), 0, 0}, {builder_.intern("f1"), 0, 0}});
    names_.push_back({"f1", "inlined"});
    for (const std::uint64_t address : {600, 700}) {  // in one module, without symbols: one function
      locations_.push_back(builder_.code_location({CodeKind::kNative, builder_.intern("/lib/libbare.so"), 0, address}, {}));
      names_.push_back({"libbare.so (no symbols)"});
    }
  }

  CallNodeId make_chain(std::vector<std::string>& calls) {
    CallNodeId node = 0;
    for (int depth = number(7); depth > 0; --depth) {
      const auto at = static_cast<std::size_t>(number(static_cast<long>(locations_.size())));
      node = builder_.call_node({node, locations_[at]});
      for (const std::string& name : names_[at])
        if (calls.empty() || calls.back() != name || !name.ends_with("(no symbols)")) calls.push_back(name);
    }
    if (node == 0) calls = {"(unknown)"};
    return node;
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  std::vector<CodeLocationId> locations_;
  std::vector<std::vector<std::string>> names_;  // by location, outermost first
  std::vector<MadeSample> made_;
  std::shared_ptr<const Trace> trace_;
};

}  // namespace lanescope::test
