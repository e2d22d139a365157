// What a sample shows about the code that ran.
#include <algorithm>

#include "observation.h"

namespace lanescope::cpu {
namespace {

constexpr std::uint64_t kFirstContext = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);  // larger entries of a chain are markers
constexpr std::size_t kMaximumChain = 1024;

bool is_kernel(std::uint16_t misc) { return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL; }

// A return address follows its call, which may be the last instruction of a function. One byte before it is within the call.
std::uint64_t call_before(std::uint64_t return_address) { return return_address - 1; }

}  // namespace

std::uint32_t Observation::kernel_location(ProcessRecord& process, std::uint64_t address) {
  return process.encoder.location(Place{modules_.kernel(), address});
}

std::uint32_t Observation::location(ProcessRecord& process, std::uint64_t address) {
  if (const auto known = process.locations.find(address); known != process.locations.end()) return known->second;
  const Place place = process.space->find(address);
  if (place.module != nullptr && place.module->is_generated) return generated_location(process, place);
  const std::uint32_t id = process.encoder.location(place);
  constexpr std::size_t kMaximumKnown = 500'000;
  if (process.locations.size() > kMaximumKnown) process.locations.clear();
  process.locations.emplace(address, id);
  return id;
}

std::uint32_t Observation::generated_location(ProcessRecord& process, const Place& place) {
  if (process.perf_map.find(place.address).empty()) process.perf_map.refresh();
  const std::optional<PythonName> python = python_name(process.perf_map.find(place.address));
  if (!python) return process.encoder.location(place);
  const std::uint32_t id = process.encoder.location(InterpretedFunction{python->function, python->file, 0});
  process.trampolines.insert(id);
  return id;
}

void Observation::take_sample(const Record& record) {
  if (!recording_ || record.who.tid == 0 || record.who.pid == 0) return;
  const RecordPointer process = owner_of(record);
  if (!process) return;
  chain_.clear();
  calls_in_code_ = 0;
  Fields fields(record.rest);
  if (settings_.call_chains == CallChains::kNone) {
    is_kernel(record.misc) ? add_kernel_call(*process, record.instruction) : add_native_call(*process, record.instruction);
  } else {
    read_call_chain(*process, fields);
    if (settings_.call_chains == CallChains::kBranchRecords) read_branches(*process, fields);
    if (settings_.call_chains == CallChains::kDwarf) read_stack(*process, fields);
  }
  const std::vector<std::uint32_t> merged = merge_python(*process, record.who);
  std::uint32_t call = 0;
  for (auto location = merged.rbegin(); location != merged.rend(); ++location) call = process->encoder.call(call, *location);
  process->encoder.add_sample(record.who.tid, static_cast<std::int64_t>(record.who.time), record.who.processor, call);
}

void Observation::add_kernel_call(ProcessRecord& process, std::uint64_t address) {
  if (calls_in_code_ == chain_.size()) ++calls_in_code_;
  chain_.push_back({kernel_location(process, address), false});
}

void Observation::add_native_call(ProcessRecord& process, std::uint64_t address) {
  if (python_ && calls_in_code_ == chain_.size() && process.space->find(address).module != nullptr) ++calls_in_code_;
  chain_.push_back({location(process, address), python_ && python_->is_loop(process.description.pid, address)});
}

std::vector<std::uint32_t> Observation::merge_python(ProcessRecord& process, const RecordIdentity& who) {
  const auto time = static_cast<std::int64_t>(who.time);
  const auto ran_at = [&](std::int64_t read) { return running_times_.ran_at(who.tid, read); };
  std::shared_ptr<const python::Stack> stack;
  if (python_) stack = python_->at(process.description.pid, who.tid, time, ran_at);
  python_samples_ += stack ? 1 : 0;
  if (python_ && !stack) {
    // Better than nothing: its outer calls are usually still the same.
    stack = python_->at(process.description.pid, who.tid, time, [](std::int64_t) { return true; });
    leaning_samples_ += stack ? 1 : 0;
  }
  const auto is_loop = [](const python::NativeCall& call) { return call.is_loop; };
  const auto names_python = [&](const python::NativeCall& call) { return process.trampolines.contains(call.location); };
  if (!stack || stack->empty() || std::any_of(chain_.begin(), chain_.end(), names_python)) return python::merge_calls(chain_, {});
  std::span<const python::NativeCall> native = chain_;
  // If frame pointers were followed through code that keeps none, the calls after that are not code.
  if (std::none_of(chain_.begin(), chain_.end(), is_loop)) native = native.first(calls_in_code_);
  return python::merge_calls(native, process.python_locations.find(*stack, process.encoder));
}

void Observation::read_call_chain(ProcessRecord& process, Fields& fields) {
  const auto count = fields.take<std::uint64_t>();
  bool in_kernel = false;
  bool is_innermost = true;
  for (std::uint64_t i = 0; i < count && !fields.empty(); ++i) {
    const auto address = fields.take<std::uint64_t>();
    if (address >= kFirstContext) {
      in_kernel = address == static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
      is_innermost = true;  // the next entry is the innermost
      continue;
    }
    if (chain_.size() >= kMaximumChain) continue;
    const std::uint64_t place = is_innermost ? address : call_before(address);
    is_innermost = false;
    in_kernel ? add_kernel_call(process, place) : add_native_call(process, place);
  }
}

void Observation::read_branches(ProcessRecord& process, Fields& fields) {
  struct Branch {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t flags;
  };
  const auto count = fields.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !fields.empty(); ++i) {
    const auto branch = fields.take<Branch>();
    if (i == 0 && branch.to != 0) add_native_call(process, branch.to);  // the function that was called last, and runs
    if (branch.from != 0) add_native_call(process, branch.from);
  }
}

void Observation::read_stack(ProcessRecord& process, Fields& fields) {
  if (fields.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return;  // a thread of the kernel
  // The record has registers in the order of asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, r8 to r15. These are their DWARF numbers.
  constexpr std::size_t kNumber[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
  UserRegisters registers{};
  for (const std::size_t number : kNumber) registers[number] = fields.take<std::uint64_t>();
  const auto size = fields.take<std::uint64_t>();
  std::span<const std::byte> stack = fields.take(size);
  if (size > 0) stack = stack.first(std::min<std::uint64_t>(fields.take<std::uint64_t>(), stack.size()));
  const auto is_trampoline = [&](std::uint64_t address) {
    if (process.perf_map.find(address).empty()) process.perf_map.refresh();
    return python_name(process.perf_map.find(address)).has_value();
  };
  for (const std::uint64_t address : unwinder_.unwind(*process.space, registers, stack, is_trampoline)) add_native_call(process, address);
}

}  // namespace lanescope::cpu
