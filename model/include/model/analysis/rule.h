// Rules: questions about a trace whose answers say what to do.
//
// Every rule answers with findings, tables, or both. Tables hold the data from which the findings were drawn, row by row.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/finding.h"
#include "model/events/launch_index.h"
#include "model/file/result.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

enum class OptionType : std::uint8_t {
  kDuration,  // a number with a unit (ns, us, ms, s); without one, in RuleOption::unit
  kInteger,
  kReal,
  kText,
};

struct RuleOption {
  std::string_view name;  // "gap"
  OptionType type = OptionType::kText;
  std::string_view default_value;  // "10us"
  std::string_view meaning;        // one line for the help
  Nanoseconds unit = 1;            // kDuration: the unit of a number without one
  int least = 0;                   // of numbers: smaller ones are invalid
};

// The values of a rule's options, checked against their types.
class RuleArguments {
 public:
  // Requires, for each: an option of the rule, with this type.
  [[nodiscard]] Nanoseconds duration(std::string_view name) const { return integers_.find(name)->second; }
  [[nodiscard]] std::int64_t integer(std::string_view name) const { return integers_.find(name)->second; }
  [[nodiscard]] double real(std::string_view name) const { return reals_.find(name)->second; }
  [[nodiscard]] const std::string& text(std::string_view name) const { return texts_.find(name)->second; }

  // Sets an option. Fails with one sentence if the text is no value of its type, or is below its least.
  Result<void> set(const RuleOption& option, std::string_view value);

 private:
  std::map<std::string, std::int64_t, std::less<>> integers_;
  std::map<std::string, double, std::less<>> reals_;
  std::map<std::string, std::string, std::less<>> texts_;
};

struct NamedTable {
  std::string name;   // "gpu_bubbles_causes": unique among the tables of all rules
  std::string title;  // "Idle time by cause"
  stats::Table table;
};

struct RuleAnswer {
  std::vector<Finding> findings;   // ranked
  std::vector<NamedTable> tables;  // without empty tables
  Message message;                 // said if nothing was found, or about the tables; may be empty
  Message summary;                 // one sentence about the whole of which the findings are parts; may be empty
};

inline constexpr TimeRange kWholeTrace{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};

// Whether answers have tables. Without them, findings and summaries are the same, and nothing is searched for tables alone.
enum class RuleTables : std::uint8_t { kAll, kLeftOut };

// What several rules need to know of the program's loop (internal to rules).
class SharedLoopWork;
[[nodiscard]] std::shared_ptr<SharedLoopWork> share_loop_work();
// What several rules collect in one pass over the work of GPUs.
class SharedCollectors;
[[nodiscard]] std::shared_ptr<SharedCollectors> share_collectors();
// Idle time that several rules go through together.
class SharedIdle;

struct RuleContext;

enum class RuleOrigin : std::uint8_t {
  kLanescope,  // our own
  kNsight,     // as in `nsys analyze`: same name, columns and arithmetic
};

struct Rule {
  std::string_view name;         // "gpu_bubbles"
  std::string_view title;        // "Idle time of GPUs and its causes"
  std::string_view description;  // what it looks for, and what to do
  RuleOrigin origin = RuleOrigin::kLanescope;
  std::span<const RuleOption> options;
  Result<RuleAnswer> (*apply)(const RuleContext& context, const RuleArguments& arguments) = nullptr;
  enum class Needs : std::uint8_t { kEvents, kIdleTime };
  Needs needs = Needs::kEvents;  // kIdleTime: it may go through all idle time once
  // Registers what the rule will need of all work of GPUs, so that rules that are answered together go through that work once. Null: nothing.
  void (*collect)(const RuleContext& context, const RuleArguments& arguments) = nullptr;
};

// All rules: ours, then Nsight's.
[[nodiscard]] std::span<const Rule> rules();
[[nodiscard]] const Rule* find_rule(std::string_view name);

// "gpu_bubbles:gap=5us": a rule with arguments. Options that are not named have their defaults.
struct RuleRequest {
  const Rule* rule = nullptr;
  RuleArguments arguments;
};
[[nodiscard]] Result<RuleRequest> parse_rule(std::string_view text);

// The input of a rule, and the data that rules of one trace share.
struct RuleContext {
  const Trace& trace;
  TimeRange time = kWholeTrace;  // GPU work, calls and ranges that start in it count, and idle time as far as it lies in it
  RuleTables tables = RuleTables::kAll;
  std::shared_ptr<SharedLaunchIndex> launch_index = std::make_shared<SharedLaunchIndex>();
  std::shared_ptr<SharedLoopWork> shared_loop_work = share_loop_work();
  std::shared_ptr<SharedCollectors> collectors = share_collectors();
  std::shared_ptr<SharedIdle> shared_idle = nullptr;  // null: the rule goes through idle time alone
  std::stop_token stop = {};                          // when asked to stop, a rule ends soon, with an answer that is of no use
  std::span<const RuleRequest> requests = {};         // the requests that are answered together
  [[nodiscard]] const LaunchIndex& launches() const { return launch_index->of(trace); }
};

// The answer to one request. When asked to stop, it ends soon, with an answer that is of no use.
[[nodiscard]] Result<RuleAnswer> apply_rule(const Trace& trace, const RuleRequest& request, std::stop_token stop = {});

// The answers to several requests, in their order, computed on all cores. Fails if one of them does. When asked to stop, it ends soon and returns
// nothing. Without tables, the messages of answers about tables are of no use.
[[nodiscard]] Result<std::vector<RuleAnswer>> apply_rules(const Trace& trace, std::span<const RuleRequest> requests, std::stop_token stop = {},
                                                          TimeRange time = kWholeTrace, RuleTables tables = RuleTables::kAll);

}  // namespace lanescope::analysis
