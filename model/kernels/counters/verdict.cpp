// The limiter of a kernel, and its possible gains.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "instructions/stall_reasons.h"
#include "memory_units.h"
#include "model/kernels/counters/sections.h"
#include "model/kernels/instructions/access_stride.h"
#include "model/kernels/matrix_product.h"
#include "model/kernels/occupancy.h"

namespace lanescope::kernels {
namespace {

constexpr double kWell = 60;  // percent of the peak above which a unit counts as well used
constexpr double kWarp = 32;  // threads
constexpr double kLeastGain = 0.02;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), std::abs(value) >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

class Judge {
 public:
  Judge(const KernelMetrics& metrics, const ProfiledKernel& kernel) : metrics_(metrics), kernel_(kernel) {
    issue_ = get("smsp__issue_active.avg.pct_of_peak_sustained_active") / 100;
    const double elapsed = get("sm__cycles_elapsed.avg");
    active_ = elapsed > 0 ? std::min(1.0, get("sm__cycles_active.avg") / elapsed) : 1;
    l1_ = get("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed");
    l2_ = find("lts__throughput.avg.pct_of_peak_sustained_elapsed")
              .value_or(most({"lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                              "l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed"}));
    dram_ = find("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed").value_or(get("dram__cycles_active.avg.pct_of_peak_sustained_elapsed"));
    // The throughput of a unit is the maximum of its parts. If it was not measured, some of these parts are sufficient.
    compute_ = find("sm__throughput.avg.pct_of_peak_sustained_elapsed")
                   .value_or(std::max(100 * issue_ * active_, most({"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
                                                                    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"})));
    memory_ = find("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed").value_or(std::max({l1_, l2_, dram_}));
    l2_sectors_ = get("lts__t_sectors_srcunit_tex_op_read.sum") + get("lts__t_sectors_srcunit_tex_op_write.sum") + get("lts__t_sectors_srcunit_tex_op_red.sum");
    shared_ = find("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    if (const double cycles = elapsed * kernel.gpu.multiprocessor_count; shared_ && cycles > 0)  // a multiprocessor has at most one wavefront a cycle
      shared_ = std::min(1.0, *shared_ / cycles);
    else
      shared_.reset();
    occupancy_ = occupancy(kernel.detail, kernel.gpu);
    if (occupancy_) waves_ = waves(kernel.detail, kernel.gpu, *occupancy_);
    // It is 0 for kernels without clusters.
    if (const auto clusters = find("launch__cluster_max_active"); clusters && *clusters >= 1 && *clusters < 1e9)
      waves_ = waves_of_clusters(kernel.detail, kernel.gpu, static_cast<std::uint64_t>(*clusters));
  }

  Verdict judge() {
    find_bound();
    const bool well_used = std::max(compute_, memory_) >= kWell;
    look_at_grid();
    look_at_atomics();
    look_at_local_memory();
    look_at_global_memory();
    look_at_shared_memory();
    look_at_partial_warps();
    look_at_divergence();
    look_at_fp64();
    look_at_fusion();
    look_at_fp32_products();
    look_at_pipes();
    // If a unit is used well, waiting for it is the consequence and not the cause.
    if (!well_used) look_at_warps();
    look_at_balance();
    std::erase_if(verdict_.advice, [](const Advice& advice) { return advice.is_gain_known && advice.gain < kLeastGain; });
    std::stable_sort(verdict_.advice.begin(), verdict_.advice.end(),
                     [](const Advice& a, const Advice& b) { return a.is_gain_known != b.is_gain_known ? b.is_gain_known : a.gain > b.gain; });
    return std::move(verdict_);
  }

 private:
  [[nodiscard]] std::optional<double> find(std::string_view metric) const { return metrics_.value(kernel_, metric); }
  [[nodiscard]] double get(std::string_view metric) const { return find(metric).value_or(0); }
  [[nodiscard]] double most(std::initializer_list<std::string_view> metrics) const {
    double largest = 0;
    for (const std::string_view metric : metrics) largest = std::max(largest, get(metric));
    return largest;
  }
  void advise(std::string_view rule, Message seen, Message what_to_do, double gain) {
    verdict_.advice.push_back({rule, std::move(seen), std::move(what_to_do), std::clamp(gain, 0.0, 1.0)});
  }
  // Upper bound of the gain from more issue slots: the idle slots, and the unused part of the most used unit.
  [[nodiscard]] double slot_gain() const { return std::min(1 - issue_, 1 - std::max(compute_, memory_) / 100); }

  void find_bound() {
    verdict_.compute = compute_;
    verdict_.memory = memory_;
    verdict_.l1 = l1_;
    verdict_.l2 = l2_;
    verdict_.dram = dram_;
    if (compute_ <= 0 && memory_ <= 0) return;
    constexpr double kUnlike = 10;  // percentage points by which one throughput must exceed the other
    const std::array<std::pair<Bound, double>, 3> levels{std::pair(Bound::kL1, l1_), std::pair(Bound::kL2, l2_), std::pair(Bound::kDram, dram_)};
    if (std::max(compute_, memory_) < kWell) {
      verdict_.utilization = std::max(compute_, memory_);
      const bool small = waves_ && waves_->waves() < 1 && waves_->idle_multiprocessors() > 0;
      verdict_.bound = small ? Bound::kSmallGrid : Bound::kLatency;
    } else if (compute_ > memory_ && compute_ - memory_ >= kUnlike) {
      verdict_.bound = Bound::kCompute;
      verdict_.utilization = compute_;
    } else {
      // Of memory's levels, the one with memory's throughput; none if no measured level is close to it.
      const auto nearest = std::min_element(levels.begin(), levels.end(),
                                            [this](const auto& a, const auto& b) { return std::abs(a.second - memory_) < std::abs(b.second - memory_); });
      const bool is_near = std::abs(nearest->second - memory_) < kUnlike;
      verdict_.bound = is_near ? nearest->first : Bound::kMemory;
      verdict_.utilization = is_near ? nearest->second : memory_;
    }
  }

  void look_at_grid() {
    if (!waves_) return;
    if (waves_->blocks == 1 && waves_->multiprocessors > 1) {  // serial as launched; the shape does not say if it could be split
      advise("small_grid", Message("The grid is one block, on one of {all} multiprocessors.", {{"all", std::to_string(waves_->multiprocessors)}}),
             "Split the work into more and smaller blocks if it can be, or run the kernel beside others.", 0);
      verdict_.advice.back().is_gain_known = false;
    } else if (waves_->idle_multiprocessors() > 0) {
      advise("small_grid",
             Message("The grid has {blocks} blocks for {all} multiprocessors.",
                     {{"blocks", std::to_string(waves_->blocks)}, {"all", std::to_string(waves_->multiprocessors)}}),
             "Split the work into more and smaller blocks, or run the kernel beside others.", waves_->idle_multiprocessors());
    }
    constexpr std::uint64_t kFewWaves = 4;
    if (waves_->full() <= kFewWaves && waves_->tail_share() > 0)
      advise("tail_wave", Message("The grid comes in {waves} waves.", {{"waves", number(waves_->waves())}}),
             "Choose a grid that fills whole waves, or a persistent kernel.", waves_->tail_share());
  }

  // Operations on few addresses queue up in one slice of the L2 cache while the other slices are idle.
  void look_at_atomics() {
    constexpr double kContended = 30;  // percentage points by which the busiest slice exceeds the mean
    const auto most = find("lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed");
    const auto mean = find("lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed");
    if (!most || !mean || *most - *mean < kContended) return;
    advise("atomics",
           Message("Atomic operations keep one slice of the L2 cache busy for {most} % of the time, and all slices for {mean} % on average: they go to few "
                   "addresses.",
                   {{"most", number(*most)}, {"mean", number(*mean)}}),
           "Add up within a warp or block first (shared memory, __reduce_add_sync), and write one result of each.", (*most - *mean) / 100);
  }

  void look_at_local_memory() {
    const auto sectors = [this](const char* in_theory, const char* loads, const char* stores) { return find(in_theory).value_or(get(loads) + get(stores)); };
    const double local =
        sectors("memory_l2_theoretical_sectors_local", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum");
    const double global =
        sectors("memory_l2_theoretical_sectors_global", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    if (local <= 0) return;
    advise("local_memory",
           Message("Of the sectors that threads access, {share} % are local memory: registers that were spilled, or an array that is indexed at run time.",
                   {{"share", number(100 * local / (local + global))}}),
           "Give the array indexes that the compiler knows (unroll the loop), put it into shared memory, or allow more registers a thread "
           "(__launch_bounds__).",
           local / (local + global) * memory_ / 100);
  }

  // The same access pattern appears as more sectors than needed (by instruction) and as unused bytes of a sector (by counters).
  void look_at_global_memory() {
    const double sectors = get("memory_l2_theoretical_sectors_global"), ideal = get("memory_l2_theoretical_sectors_global_ideal");
    const double l2_elapsed = get("lts__cycles_elapsed.avg");
    const double l2_active = l2_elapsed > 0 ? get("lts__cycles_active.avg") / l2_elapsed : 1;
    // The L2 cache may have other work as well, such as copies between global and shared memory.
    const double excess = sectors > ideal ? (sectors - ideal) / std::max(sectors, l2_sectors_) * l2_active : 0;
    double gain = excess;
    Message seen;
    if (excess > 0)
      seen = Message("Threads access {times} times the sectors of global memory that they need", {{"times", number(sectors / std::max(ideal, 1.0))}});
    struct Operation {
      const char* seen;
      const char* also_seen;
      const char* bytes;
      const char* hits;
      const char* all;
      const char* requests;
    };
    // Appends the pattern of a warp's requests to the sentence before it.
    const auto with_pattern = [](Message what, double of_a_request, double bytes) {
      constexpr double kEachItsOwn = 31.5;  // sectors per request: each of its 32 threads has one
      if (of_a_request >= kEachItsOwn)
        return Message("{what}, and such a request of a warp takes 32 sectors, one for each thread, as with a stride of 32 B or more",
                       {{"what", std::move(what)}});
      const auto stride = access_stride(kSectorBytes, bytes, 0);
      if (of_a_request <= 0 || !stride) return what;
      return Message("{what}, and such a request of a warp takes {sectors} sectors, as with a stride of {stride}",
                     {{"what", std::move(what)}, {"sectors", number(of_a_request)}, {"stride", stride_text(*stride)}});
    };
    struct Seen {
      double bytes;
      Message text;
      std::string pattern;
    };
    std::vector<Seen> operations;
    constexpr std::array kOperations{
        Operation{"Of each sector of 32 B, loads use {bytes} B", "of each sector of 32 B, loads use {bytes} B",
                  "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
        Operation{"Of each sector of 32 B, stores use {bytes} B", "of each sector of 32 B, stores use {bytes} B",
                  "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                  "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    };
    double at_l1 = 0;  // sectors
    for (const char* memory : {"global_op_ld", "global_op_st", "local_op_ld", "local_op_st"})
      at_l1 += get(std::string("l1tex__t_sectors_pipe_lsu_mem_") + memory + ".sum");
    const double l1 = std::max(0.0, get("l1tex__throughput.avg.pct_of_peak_sustained_active") * active_ - 100 * shared_.value_or(0));
    double unused_sectors = 0;  // gain
    for (const Operation& operation : kOperations) {
      const double bytes = get(operation.bytes);
      if (bytes <= 0 || bytes >= kSectorBytes - 0.5) continue;
      const double unused = 1 - bytes / kSectorBytes;
      // Requests that a level serves do not burden the levels behind it. What others have of a level can't be won here.
      const double all = get(operation.all), misses = all > 0 ? 1 - std::min(1.0, get(operation.hits) / all) : 1;
      const double of_l1 = all > 0 ? all / at_l1 : 1, of_l2 = all > 0 && l2_sectors_ > 0 ? std::min(misses, misses * all / l2_sectors_) : misses;
      unused_sectors += unused * std::max({of_l1 * l1, of_l2 * l2_, of_l2 * dram_}) / 100;
      const double requests = get(operation.requests), of_a_request = requests > 0 ? all / requests : 0;
      const char* const text = seen.empty() && operations.empty() ? operation.seen : operation.also_seen;
      operations.push_back(
          {bytes, with_pattern(Message(text, {{"bytes", number(bytes)}}), of_a_request, bytes), with_pattern({}, of_a_request, bytes).english()});
      if (operations.size() == kOperations.size() && operations[0].pattern == operations[1].pattern)
        operations = {{bytes,
                       with_pattern(Message(seen.empty() ? "Of each sector of 32 B, loads use {loads} B and stores {stores} B"
                                                         : "of each sector of 32 B, loads use {loads} B and stores {stores} B",
                                            {{"loads", number(operations[0].bytes)}, {"stores", number(operations[1].bytes)}}),
                                    of_a_request, bytes),
                       {}}};
    }
    gain = std::max(gain, unused_sectors);
    for (Seen& each : operations)
      seen = seen.empty() ? std::move(each.text) : Message("{first}; {then}", {{"first", std::move(seen)}, {"then", std::move(each.text)}});
    if (gain > 0)
      advise("global_access", Message("{seen}.", {{"seen", std::move(seen)}}),
             "Let neighbouring threads access neighbouring addresses: change the layout or the order of loops, or go through a tile in shared memory.", gain);
  }

  void look_at_shared_memory() {
    const double wavefronts = get("memory_l1_wavefronts_shared"), ideal = get("memory_l1_wavefronts_shared_ideal");
    double share = wavefronts > 0 ? (wavefronts - ideal) / wavefronts : 0;
    if (!find("memory_l1_wavefronts_shared") && get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") > 0)
      share = get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum") / get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    constexpr double kNoise = 0.1;  // the hardware counts some even without conflicts
    if (share < kNoise) return;
    advise("bank_conflicts",
           Message("{share} % of the wavefronts to shared memory are bank conflicts: an access takes {times} times as many as it needs.",
                   {{"share", number(100 * share)}, {"times", number(1 / (1 - std::min(share, 0.999)))}}),
           "Pad the rows of the tile by one element (tile[32][33] in place of tile[32][32]), or swizzle the index.",
           share * std::min(get("l1tex__throughput.avg.pct_of_peak_sustained_active") / 100, shared_.value_or(1)));
  }

  // Mean threads of a block's warps: below 32 if the number of threads is not a multiple of 32.
  [[nodiscard]] double threads_of_warps() const {
    const auto threads = static_cast<double>(threads_of_block(kernel_.detail));
    return threads > 0 ? threads / std::ceil(threads / kWarp) : kWarp;
  }

  void look_at_partial_warps() {
    const double threads = threads_of_warps();
    if (threads >= kWarp) return;
    advise("partial_warps",
           Message("A block has {threads} threads, which is no multiple of 32: {idle} % of the threads of its warps do nothing.",
                   {{"threads", std::to_string(threads_of_block(kernel_.detail))}, {"idle", number(100 * (1 - threads / kWarp))}}),
           "Choose a multiple of 32 threads a block.", (1 - threads / kWarp) * compute_ / 100);
  }

  void look_at_divergence() {
    constexpr double kFew = 24;  // of the 32 threads of a warp
    const auto active = find("smsp__thread_inst_executed_per_inst_executed.ratio");
    const double threads = std::min(active.value_or(kWarp), find("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio").value_or(kWarp));
    if (!active || threads >= kFew) return;
    constexpr double kAsLaunched = 0.97;  // share of the threads in its warps above which they do not diverge
    if (threads >= kAsLaunched * threads_of_warps()) return;
    advise("divergence", Message("An instruction works for {threads} of a warp's 32 threads.", {{"threads", number(threads)}}),
           "Let the threads of a warp take the same branches and loops of the same length: sort the work, or hand it out by warps.",
           (1 - threads / kWarp) * compute_ / 100);
  }

  void look_at_fp64() {
    constexpr double kMuch = 15;  // percent of the pipe's peak
    const double fp64 = get("sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed");
    if (fp64 < kMuch) return;
    const double of64 = get("sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained");
    const double of32 = get("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained");
    const auto operations = [this](char type) {
      double sum = 0;
      for (const char* operation : {"add", "mul", "fma"})
        sum += get(std::string("smsp__sass_thread_inst_executed_op_") + type + operation + "_pred_on.sum.per_cycle_elapsed");
      return sum;
    };
    const double doubles = operations('d'), floats = operations('f');
    const double share = doubles + floats > 0 ? doubles / (doubles + floats) : 1;
    advise("fp64", Message("FP64 arithmetic uses {share} % of its pipe.", {{"share", number(fp64)}}),
           "Use single precision where it is enough; look for constants without an f and calls of functions for double.",
           share * (1 - (of32 > 0 ? of64 / of32 : 0.5)) * fp64 / 100);
  }

  // A multiply and an add are one instruction if they are fused. The number of pairs is at most the smaller of the two counts; no counter says if they belong
  // together.
  void look_at_fusion() {
    struct Type {
      std::string_view name;
      char letter;
      double pipe;  // percent of the kernel's time
    };
    const std::array kTypes{Type{"FP32", 'f', active_ * get("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active")},
                            Type{"FP64", 'd', get("sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed")}};
    constexpr double kMany = 0.1;  // share of all operations of the type
    Advice best{"fusion",
                {},
                "Let the compiler fuse a * b + c: without -fmad=false, __fmul_rn and __fadd_rn, and with the sum beside its product; or write fma(a, b, c).",
                0};
    for (const Type& type : kTypes) {
      const auto operations = [&](const char* operation) {
        return get(std::string("smsp__sass_thread_inst_executed_op_") + type.letter + operation + "_pred_on.sum.per_cycle_elapsed");
      };
      const double sums = operations("add"), products = operations("mul"), fused = operations("fma"), all = sums + products + fused;
      const double pairs = all > 0 ? std::min(sums, products) / all : 0;
      if (pairs <= kMany || pairs * type.pipe / 100 <= best.gain) continue;
      best.gain = pairs * type.pipe / 100;
      best.seen = Message("Of the {type} operations, {sums} % are sums and {products} % products that stand alone: a pair of them could be one multiply-add.",
                          {{"type", std::string(type.name)}, {"sums", number(100 * sums / all)}, {"products", number(100 * products / all)}});
    }
    if (best.gain > 0) verdict_.advice.push_back(std::move(best));
  }

  // Finds the busiest pipe of multiprocessors, and decides if it limits the kernel.
  void look_at_pipes() {
    struct Pipe {
      std::string_view name, metric, remedy;  // no remedy: another rule has it, or use of the pipe is desired
    };
    constexpr std::array kPipes{
        Pipe{"ALU", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
             "Spare integer and logic operations: 32-bit indexes in place of 64-bit ones, no division or remainder by what is not constant, work that loops "
             "repeat before them."},
        Pipe{"FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
             "Do less arithmetic, or in a smaller format: two values of half precision in one instruction (__half2, __nv_bfloat162), or tensor cores for "
             "products of matrices."},
        Pipe{"FP64", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", ""},
        Pipe{"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", ""},
        Pipe{"LSU", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
             "Load and store more with an instruction (float4 in place of float), and keep what is used again in registers."},
        Pipe{"XU", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
             "Spare transcendental functions and conversions between integers and floats: tables, polynomials, or values that are computed once."},
        Pipe{"ADU", "sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_active",
             "Spare loads of constants and jumps whose addresses are computed: indexes of constant memory that are the same for a warp, fewer barriers and "
             "calls through pointers."},
    };
    constexpr double kLittle = 20, kBusy = 80;
    const Pipe* busiest = nullptr;
    double most = 0, next = 0;  // percent of the peak while multiprocessors are active
    for (const Pipe& pipe : kPipes) {
      const double use = get(pipe.metric);
      next = std::max(next, std::min(use, most));
      if (use <= most) continue;
      next = most;
      most = use;
      busiest = &pipe;
    }
    if (busiest == nullptr) return;
    const std::vector<Message::Value> parts{{"pipe", std::string(busiest->name)}, {"share", number(most)}};
    if (most < kLittle)
      verdict_.pipes = Message("No pipe of a multiprocessor is used much: the busiest, {pipe}, to {share} % of its peak.", parts);
    else if (most < kWell)
      verdict_.pipes = Message("The busiest pipe of a multiprocessor, {pipe}, is used to {share} % of its peak: none holds the kernel up.", parts);
    else if (most < kBusy)
      verdict_.pipes = Message(
          "The busiest pipe of a multiprocessor, {pipe}, is used well, to {share} % of its peak: much more work of its kind would be held up by it.", parts);
    else
      verdict_.pipes = Message("The busiest pipe of a multiprocessor, {pipe}, is used to {share} % of its peak, and holds the kernel up.", parts);
    // Both of these rules explain why the FMA pipe is busy.
    const bool is_said = busiest->name == "FMA" && std::any_of(verdict_.advice.begin(), verdict_.advice.end(),
                                                               [](const Advice& each) { return each.rule == "fusion" || each.rule == "fp32_products"; });
    if (most < kBusy || busiest->remedy.empty() || is_said) return;
    // Without this pipe, the kernel would take as long as the next busiest unit.
    const double rest = std::max({next * active_, memory_});
    advise("pipe",
           Message("The pipe {pipe} is used to {share} % of its peak, what is used most beside it to {rest} %.",
                   {{"pipe", std::string(busiest->name)}, {"share", number(most * active_)}, {"rest", number(rest)}}),
           Message(busiest->remedy), (most * active_ - rest) / 100);
  }

  void look_at_fp32_products() {
    if (!is_fp32_product(kernel_.name)) return;
    if (const auto cores = tensor_cores_of(kernel_.gpu))
      advise("fp32_products", "It multiplies matrices in FP32, while the tensor cores are idle.", Message(tensor_core_advice(cores->format)),
             cores->gain() * compute_ / 100);
  }

  // The share of a multiprocessor's warps that the launch has for a multiprocessor with work. A small grid has few, whatever its shape permits.
  [[nodiscard]] double share_of_warps() const {
    if (!occupancy_) return 1;
    if (!waves_) return occupancy_->share();
    const double blocks = std::ceil(static_cast<double>(waves_->blocks) / waves_->multiprocessors);
    return std::min(occupancy_->share(), blocks * occupancy_->warps_of_block / occupancy_->most_warps);
  }

  // Occupancy and stalls are symptoms of one cause: too few warps that could issue.
  void look_at_warps() {
    constexpr double kLowOccupancy = 0.8, kFarBelow = 10, kIdleSlots = 0.8, kMuchOfAll = 0.3;
    if (!find("smsp__issue_active.avg.pct_of_peak_sustained_active")) return;
    const double theoretical = occupancy_ ? occupancy_->share() : 1;
    const bool has_more_blocks = !waves_ || waves_->blocks > waves_->at_once;  // that could be resident as well
    const std::vector<Relief> ways = theoretical < kLowOccupancy && occupancy_->blocks > 0 && has_more_blocks
                                         ? reliefs(kernel_.detail, *multiprocessor_of(kernel_.gpu))
                                         : std::vector<Relief>();
    if (!ways.empty())
      advise("occupancy",
             Message("A multiprocessor holds {share} % of the warps that it could, limited by {limits}.",
                     {{"share", number(100 * theoretical)}, {"limits", limiters_text(*occupancy_)}}),
             Message("More with {way}.", {{"way", relief_text(ways.front(), kernel_.detail)}}), std::min(slot_gain(), 1 - theoretical));
    const auto achieved = find("sm__warps_active.avg.pct_of_peak_sustained_active");
    // Warps that queue at one address end late, independent of their work.
    const bool queues = std::any_of(verdict_.advice.begin(), verdict_.advice.end(), [](const Advice& each) { return each.rule == "atomics"; });
    const double held = share_of_warps();
    if (achieved && 100 * held - *achieved > kFarBelow && !queues)
      advise("achieved_occupancy",
             Message("On average {achieved} % of the possible warps are resident; the shape of the launch allows {held} %.",
                     {{"achieved", number(*achieved)}, {"held", number(100 * held)}}),
             "Give all blocks and warps work of the same length.", std::min(slot_gain(), 1 - *achieved / 100 / held));
    const double latency = get(kWarpLatency);
    const std::vector<Stall> all = stalls(metrics_, kernel_);
    if (issue_ >= kIdleSlots || latency <= 0 || all.empty() || all.front().cycles / latency < kMuchOfAll) return;
    const Stall& first = all.front();
    if (first.reason->name == "selected" || first.reason->name == "not_selected") return;
    advise("stalls",
           Message("Of the {cycles} cycles between two instructions of a warp, it waits {waits} for {reason}.",
                   {{"cycles", number(latency)}, {"waits", number(first.cycles)}, {"reason", Message(first.reason->waits_for)}}),
           Message(first.reason->remedy), std::min(slot_gain(), first.cycles / latency));
    verdict_.advice.back().stall = first.reason->name;
  }

  void look_at_balance() {
    constexpr double kUneven = 0.05;
    const double mean = get("sm__cycles_active.avg"), most = get("sm__cycles_active.max");
    if (mean <= 0 || most <= 0 || (waves_ && waves_->idle_multiprocessors() > 0)) return;
    const double gain = (1 - mean / most) * active_;
    if (gain >= kUneven)
      advise("imbalance", Message("The busiest multiprocessor works {times} times as long as they do on average.", {{"times", number(most / mean)}}),
             "Hand out work in smaller pieces, or to blocks as they come to an end.", gain);
  }

  const KernelMetrics& metrics_;
  const ProfiledKernel& kernel_;
  std::optional<Occupancy> occupancy_;
  std::optional<Waves> waves_;
  double compute_ = 0;  // percent of peak; likewise memory
  double memory_ = 0;
  double l1_ = 0;  // part of memory; likewise L2 and DRAM
  double l2_ = 0;
  double dram_ = 0;
  double l2_sectors_ = 0;         // that multiprocessors asked of the L2 cache; 0: not measured
  std::optional<double> shared_;  // share of the kernel's cycles in which a multiprocessor's L1 has wavefronts to shared memory
  double issue_ = 0;              // share of a multiprocessor's active cycles in which a scheduler issues
  double active_ = 1;             // share of the kernel's time in which a multiprocessor has warps, mean of all
  Verdict verdict_;
};

}  // namespace

std::string_view bound_name(Bound bound) noexcept {
  switch (bound) {
    case Bound::kUnknown:
      return "not measured";
    case Bound::kCompute:
      return "compute";
    case Bound::kL1:
      return "L1 cache and shared memory";
    case Bound::kL2:
      return "L2 cache";
    case Bound::kDram:
      return "DRAM bandwidth";
    case Bound::kMemory:
      return "memory";
    case Bound::kLatency:
      return "latency";
    case Bound::kSmallGrid:
      return "small grid";
  }
  return "";
}

Message bound_text(const Verdict& verdict) {
  Message bound(bound_name(verdict.bound));
  constexpr double kPeak = 100;
  if (verdict.bound == Bound::kUnknown || !(verdict.utilization > 0 && verdict.utilization <= kPeak)) return bound;
  char share[32];
  std::snprintf(share, sizeof(share), "%.1f %%", verdict.utilization);
  const bool is_a_unit = verdict.bound != Bound::kLatency && verdict.bound != Bound::kSmallGrid;
  return Message(is_a_unit ? "{bound} ({share} of its peak)" : "{bound} (no unit is used beyond {share} of its peak)",
                 {{"bound", std::move(bound)}, {"share", std::string(share)}});
}

std::string_view cause_name(std::string_view rule) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kCauses{{
      {"small_grid", "fewer blocks than multiprocessors"},
      {"tail_wave", "a last wave that fills little of the GPU"},
      {"atomics", "atomic operations on few addresses"},
      {"local_memory", "traffic of local memory"},
      {"global_access", "scattered access to global memory"},
      {"bank_conflicts", "conflicts of shared memory's banks"},
      {"divergence", "threads of a warp that diverge"},
      {"partial_warps", "blocks of no whole warps"},
      {"fusion", "sums and products that are not fused"},
      {"pipe", "a pipe of multiprocessors that is busy"},
      {"fp64", "arithmetic in double precision"},
      {"fp32_products", "matrix products in FP32 beside idle tensor cores"},
      {"occupancy", "few warps that a multiprocessor can hold"},
      {"achieved_occupancy", "fewer warps at work than could be held"},
      {"stalls", "warps that wait"},
      {"imbalance", "multiprocessors with unequal work"},
  }};
  for (const auto& [name, cause] : kCauses)
    if (name == rule) return cause;
  return rule;
}

Verdict judge(const KernelMetrics& metrics, const ProfiledKernel& kernel) { return Judge(metrics, kernel).judge(); }

}  // namespace lanescope::kernels
