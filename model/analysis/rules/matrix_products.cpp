// fp32_products: matrix products that run on FP32 units although tensor cores could run them.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../collectors.h"
#include "../own_rules.h"
#include "../wording.h"
#include "idle/covered_time.h"
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
  double used = 0;  // ns: the total multiplied by the share of multiprocessors for which a launch has blocks
  Nanoseconds longest = -1;
  EventRef longest_launch;
};

// Products in the loop, or outside of it.
struct ProductsOfGpu {
  std::vector<Product> products;  // the longest total first
  Nanoseconds total = 0;
  double used = 0;          // ns: the sum of those of the products
  CoveredTime covered;      // by products: less than their total if they run at the same time, as those of several processes do
  Nanoseconds kernels = 0;  // base of shares: all kernels of the loop, including other kinds; outside of it, all kernels
};

// Products of GPUs that have tensor cores, by recurrence.
class ProductCollector : public OperationVisitor {
 public:
  ProductCollector(const RuleContext& context, const SharedCollectors::Key&) : trace_(context.trace), work_(loop_work(context)), gpus_(trace_.gpus().size()) {}

  using OfGpu = std::array<ProductsOfGpu, 2>;
  [[nodiscard]] const OfGpu& of(GpuId gpu) const { return gpus_[gpu]; }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    counts_ = kernels::tensor_cores_of(trace_.gpus()[gpu]).has_value();
    by_name_ = {};
  }
  void visit(std::span<const GpuOperation> operations) override {
    if (!counts_) return;
    for (const GpuOperation& operation : operations)
      if (operation.kind == TrackKind::kKernels) add(operation);
  }
  void end() override {
    OfGpu& results = gpus_[gpu_];
    for (std::size_t recurrence = 0; recurrence < results.size(); ++recurrence) {
      std::vector<Product>& products = results[recurrence].products;
      for (const auto& [name, product] : by_name_[recurrence]) products.push_back(product);
      // What runs at the same time is saved once.
      if (const double total = static_cast<double>(results[recurrence].total); total > 0) {
        const double once = static_cast<double>(results[recurrence].covered.total()) / total;
        for (Product& product : products) product.used *= once;
        results[recurrence].used *= once;
      }
      // Numbers of names depend on the file, so equal totals are ordered by their names.
      const auto key = [&](const Product& each) { return std::pair(-each.total, trace_.name(each.name)); };
      std::sort(products.begin(), products.end(), [&](const Product& a, const Product& b) { return key(a) < key(b); });
    }
    results[static_cast<std::size_t>(Recurrence::kOnce)].kernels += results[static_cast<std::size_t>(Recurrence::kRecurring)].kernels;
  }

 private:
  // A multiprocessor without a block computes no faster on other units.
  [[nodiscard]] double used_share(DetailId detail) const {
    const std::uint64_t blocks = kernels::blocks_of_grid(trace_.kernel_detail(detail));
    const std::uint32_t multiprocessors = trace_.gpus()[gpu_].multiprocessor_count;
    return blocks == 0 || multiprocessors == 0 ? 1 : std::min(1.0, static_cast<double>(blocks) / multiprocessors);
  }
  void add(const GpuOperation& kernel) {
    const Nanoseconds duration = kernel.range.length();
    const std::size_t recurrence = static_cast<std::size_t>(work_.recurrence(kernel));
    ProductsOfGpu& result = gpus_[gpu_][recurrence];
    result.kernels += duration;
    const auto [is_product, is_new] = known_.try_emplace(kernel.name);
    if (is_new) is_product->second = kernels::is_fp32_product(trace_.name(kernel.name));
    if (!is_product->second) return;
    Product& product = by_name_[recurrence][kernel.name];
    product.name = kernel.name;
    ++product.launches;
    product.total += duration;
    result.total += duration;
    result.covered.add(kernel.range);
    const double used = static_cast<double>(duration) * used_share(kernel.detail);
    product.used += used;
    result.used += used;
    if (duration <= product.longest) return;
    product.longest = duration;
    product.longest_launch = kernel.event;
  }

  const Trace& trace_;
  const LoopWork& work_;
  std::vector<OfGpu> gpus_;
  std::unordered_map<NameId, bool> known_;  // true: it is a product
  GpuId gpu_ = kNone;                       // the current GPU
  bool counts_ = false;                     // true: the current GPU has tensor cores
  std::array<std::map<NameId, Product>, 2> by_name_;
};

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

// Products of all GPUs that have any and have the same kind of tensor cores: ranks run the same kernels.
struct ProductsTogether {
  std::vector<GpuId> gpus;
  std::set<NameId> names;
  std::vector<KernelsOfGpu> kernels_of_gpus;
  std::uint64_t launches = 0;
  Nanoseconds total = 0;
  double used = 0;
  Nanoseconds kernels = 0;
  Nanoseconds longest = -1;  // launch of the kernel that takes longest on its GPU
  EventRef longest_launch;

  void add(GpuId gpu, const ProductsOfGpu& found) {
    gpus.push_back(gpu);
    for (const Product& product : found.products) {
      names.insert(product.name);
      launches += product.launches;
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
                          {{"gpu", found.gpus.size() == 1 ? Message::verbatim(GpuTexts(trace).plain(track.gpu)) : gpus_counted(trace, found.gpus)},
                           {"format", format_name(format)},
                           {"won", duration_text(finding.cost)}});
  finding.seen =
      Message("{kernels} of such products took {time} in {runs}, {share} of the time of all kernels.", {{"kernels", counted(found.names.size(), "kernel")},
                                                                                                        {"runs", counted(found.launches, "run")},
                                                                                                        {"time", duration_text(found.total)},
                                                                                                        {"share", percent_text(found.total, found.kernels)}});
  finding.advice = Message(kernels::tensor_core_advice(format));
  return finding;
}

}  // namespace

void collect_fp32_products(const RuleContext& context, const RuleArguments&) {
  const std::vector<Gpu>& gpus = context.trace.gpus();
  if (std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return kernels::tensor_cores_of(gpu).has_value(); }))
    context.collectors->want<ProductCollector>(context);
}

Result<RuleAnswer> find_fp32_products(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  stats::Table table({stats::integers("Winnable at Most", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds),
                      stats::integers("Launches"), stats::integers("GPU"), stats::words("When"), stats::texts("Kernel")});
  const Loop& loop = loop_work(context).loop();
  const auto& collected = context.collectors->of<ProductCollector>(context);
  std::vector<GpuId> gpus;
  std::map<std::pair<kernels::TensorFormat, double>, std::array<ProductsTogether, 2>>
      together;  // by the tensor cores that the products could use; by recurrence
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) {
    const auto cores = kernels::tensor_cores_of(trace.gpus()[gpu]);
    if (!cores) continue;
    const auto winnable = [&cores](double used) { return static_cast<Nanoseconds>(used * cores->gain()); };
    const auto ordinal = static_cast<std::int64_t>(trace.gpus()[gpu].ordinal);
    const ProductCollector::OfGpu& of_gpu = collected.of(gpu);
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
      break;  // the finding about the loop also covers costs that are paid once
    }
  rank(answer.findings);
  add_files(trace, gpus, table);
  if (table.row_count() > 0) answer.tables.push_back({"fp32_products", "Matrix products in FP32 without tensor cores", std::move(table)});
  if (answer.findings.empty()) answer.message = "No matrix products in FP32 that tensor cores could take cost much, as far as names of kernels tell.";
  return answer;
}

}  // namespace lanescope::analysis
