// What threads ran when they were sampled, function by function.
#include "../report_functions.h"
#include "model/samples/call_tree.h"
#include "model/trace/text/kernel_name.h"

namespace lanescope::stats {
Table cpu_samples(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  samples::SampleSelection wanted;
  wanted.window = selection.time();
  const auto stacks = sampled_stacks(trace, wanted, selection.stop());
  const samples::CallTree tree = make_call_tree(trace, stacks, samples::CallTreeOrder::kTopDown, options.calls);
  Table table({reals("Self", Unit::kPercent), reals("Total", Unit::kPercent), integers("Self Samples"), integers("Total Samples"), texts("Function"),
               texts("Module"), texts("Source File"), identifiers("Source Line")});
  const auto all = static_cast<double>(tree.total().count);
  for (const samples::FunctionWeight& each : function_weights(tree)) {
    const samples::SampledFunction& function = tree.functions()[each.function];
    const auto share = [&](const samples::Weight& part) { return 100.0 * static_cast<double>(part.count) / all; };
    const bool brief = options.kernel_names == KernelNames::kBase && function.kind == samples::FrameKind::kNative && function.function != 0;
    table.add_row(share(each.self), share(each.total), static_cast<std::int64_t>(each.self.count), static_cast<std::int64_t>(each.total.count),
                  table.add_text(brief ? std::string(short_kernel_name(function.name)) : function.name), table.add_text(module_text(trace, function)),
                  table.add_text(std::string(trace.name(function.source_file))), function.source_line == 0 ? kNoInteger : std::int64_t{function.source_line});
  }
  return table;
}

}  // namespace lanescope::stats
