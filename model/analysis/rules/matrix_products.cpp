// fp32_products: matrix products that run on FP32 units though tensor cores could take them.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../own_rules.h"
#include "../wording.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/kernels/matrix_product.h"
#include "model/kernels/occupancy.h"

namespace lanescope::analysis {
namespace {

struct Product {
  NameId name = 0;
  std::uint64_t launches = 0;
  Nanoseconds total = 0;
  double used = 0;  // ns, of the total: times the share of multiprocessors that a launch has blocks for
  Nanoseconds longest = -1;
  EventRef longest_launch;
};

// In the loop, or outside of it.
struct ProductsOfGpu {
  std::vector<Product> products;  // the one that takes longest first
  Nanoseconds total = 0;
  double used = 0;          // ns, as of each
  Nanoseconds kernels = 0;  // that shares are of: all kernels of the loop, those of other sorts too; outside of it, all kernels
};

// A multiprocessor that gets no block computes no faster on other units.
double used_share(const Trace& trace, GpuId gpu, const EventRef& event) {
  const std::uint64_t blocks = kernels::blocks_of_grid(trace.kernel_detail(trace.lane(event.lane).detail(event.index)));
  const std::uint32_t multiprocessors = trace.gpus()[gpu].multiprocessor_count;
  return blocks == 0 || multiprocessors == 0 ? 1 : std::min(1.0, static_cast<double>(blocks) / multiprocessors);
}

// By recurrence.
std::array<ProductsOfGpu, 2> products_of(const RuleContext& context, GpuId gpu) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  std::array<ProductsOfGpu, 2> results;
  std::array<std::map<NameId, Product>, 2> by_name;
  std::map<NameId, bool> known;
  GpuOperations operations(trace, gpu, context.time, context.stop);
  while (const std::optional<GpuOperation> operation = operations.next()) {
    if (trace.track_of(operation->event.lane).key.kind != TrackKind::kKernels) continue;
    const Nanoseconds duration = operation->range.length();
    const std::size_t recurrence = static_cast<std::size_t>(work.recurrence(operation->event));
    ProductsOfGpu& result = results[recurrence];
    result.kernels += duration;
    const NameId name = trace.lane(operation->event.lane).name(operation->event.index);
    const auto [is_product, is_new] = known.try_emplace(name);
    if (is_new) is_product->second = kernels::is_fp32_product(trace.name(name));
    if (!is_product->second) continue;
    Product& product = by_name[recurrence][name];
    product.name = name;
    ++product.launches;
    product.total += duration;
    result.total += duration;
    const double used = static_cast<double>(duration) * used_share(trace, gpu, operation->event);
    product.used += used;
    result.used += used;
    if (duration <= product.longest) continue;
    product.longest = duration;
    product.longest_launch = operation->event;
  }
  for (std::size_t recurrence = 0; recurrence < results.size(); ++recurrence) {
    std::vector<Product>& products = results[recurrence].products;
    for (const auto& [name, product] : by_name[recurrence]) products.push_back(product);
    // Numbers of names are the file's: equals stand by their names.
    const auto key = [&](const Product& each) { return std::pair(-each.total, trace.name(each.name)); };
    std::sort(products.begin(), products.end(), [&](const Product& a, const Product& b) { return key(a) < key(b); });
  }
  results[static_cast<std::size_t>(Recurrence::kOnce)].kernels += results[static_cast<std::size_t>(Recurrence::kRecurring)].kernels;
  return results;
}

std::string_view format_name(kernels::TensorFormat format) {
  switch (format) {
    case kernels::TensorFormat::kTf32:
      return "TF32";
    case kernels::TensorFormat::kBf16:
      return "BF16";
    case kernels::TensorFormat::kFp16:
      return "FP16";
  }
  return "";
}

// Those of all GPUs that have any, and tensor cores of one kind: ranks run the same kernels.
struct ProductsTogether {
  std::vector<GpuId> gpus;
  std::set<NameId> names;
  std::vector<KernelsOfGpu> kernels_of_gpus;
  Nanoseconds total = 0;
  double used = 0;
  Nanoseconds kernels = 0;
  Nanoseconds longest = -1;  // launch, of the kernel that takes longest on its GPU
  EventRef longest_launch;

  void add(GpuId gpu, const ProductsOfGpu& found) {
    gpus.push_back(gpu);
    for (const Product& product : found.products) {
      names.insert(product.name);
      kernels_of_gpus.emplace_back(gpu, product.name);
    }
    total += found.total;
    used += found.used;
    kernels += found.kernels;
    if (found.products.front().longest <= longest) return;
    longest = found.products.front().longest;
    longest_launch = found.products.front().longest_launch;
  }
};

Finding finding_of(const Trace& trace, kernels::TensorFormat format, Nanoseconds winnable, Recurrence recurrence, const ProductsTogether& found) {
  const Lane& lane = trace.lane(found.longest_launch.lane);
  const TrackKey& track = trace.track_of(found.longest_launch.lane).key;
  Finding finding;
  finding.rule = "fp32_products";
  finding.recurrence = recurrence;
  finding.place = {{lane.start(found.longest_launch.index), lane.end(found.longest_launch.index)}, found.longest_launch, track.gpu, track.process, kNone};
  finding.cost = winnable;
  finding.title = Message("Matrix products in FP32 leave the tensor cores of {gpu} unused: in {format} they could save up to {won}.",
                          {{"gpu", found.gpus.size() == 1 ? Message::verbatim(GpuTexts(trace).plain(track.gpu)) : counted(found.gpus.size(), "GPU")},
                           {"format", format_name(format)},
                           {"won", duration_text(finding.cost)}});
  finding.seen =
      Message("{kernels} of such products took {time}, {share} of the time of all kernels.",
              {{"kernels", counted(found.names.size(), "kernel")}, {"time", duration_text(found.total)}, {"share", percent_text(found.total, found.kernels)}});
  finding.advice = Message(kernels::tensor_core_advice(format));
  return finding;
}

}  // namespace

Result<RuleAnswer> find_fp32_products(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::integers("GPU"), stats::words("When"), stats::texts("Kernel")});
  const Loop& loop = loop_work(context).loop();
  std::vector<GpuId> gpus;
  std::map<std::pair<kernels::TensorFormat, double>, std::array<ProductsTogether, 2>> together;  // by what the products could run on; by recurrence
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    const auto cores = kernels::tensor_cores_of(trace.gpus()[gpu]);
    if (!cores) continue;
    const auto winnable = [&cores](double used) { return static_cast<Nanoseconds>(used * cores->gain()); };
    const auto ordinal = static_cast<std::int64_t>(trace.gpus()[gpu].ordinal);
    const std::array<ProductsOfGpu, 2> of_gpu = products_of(context, gpu);
    for (const Recurrence recurrence : {Recurrence::kRecurring, Recurrence::kOnce}) {
      const ProductsOfGpu& found = of_gpu[static_cast<std::size_t>(recurrence)];
      gpus.resize(gpus.size() + found.products.size(), gpu);
      for (const Product& product : found.products)
        table.add_row(winnable(product.used), product.total, static_cast<std::int64_t>(product.launches), ordinal,
                      table.add_text(std::string(when_text(loop, recurrence))), table.add_text(std::string(trace.name(product.name))));
      if (!found.products.empty()) together[{cores->format, cores->gain()}][static_cast<std::size_t>(recurrence)].add(gpu, found);
    }
  }
  for (const auto& [cores, by_recurrence] : together)
    for (const Recurrence recurrence : {Recurrence::kRecurring, Recurrence::kOnce}) {
      const ProductsTogether& found = by_recurrence[static_cast<std::size_t>(recurrence)];
      const auto winnable = static_cast<Nanoseconds>(found.used * cores.second);
      if (found.gpus.empty() || percent_of(winnable, found.kernels) < arguments.real("share")) continue;
      answer.findings.push_back(finding_of(trace, cores.first, winnable, recurrence, found));
      tell_hidden(loop_work(context).awaited(), found.total, found.kernels_of_gpus, answer.findings.back());
      break;  // of the loop, which says it of what is paid once as well
    }
  rank(answer.findings);
  add_files(trace, gpus, table);
  if (table.row_count() > 0) answer.tables.push_back({"fp32_products", "Matrix products in FP32 without tensor cores", std::move(table)});
  if (answer.findings.empty()) answer.message = "No matrix products in FP32 that tensor cores could take cost much, as far as names of kernels tell.";
  return answer;
}

}  // namespace lanescope::analysis
