// A trace as lines of text, so that two traces can be compared event by event, independent of the order of their tables.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::test {

// The lines name things by their properties, never by their position in a table.
class TraceText {
 public:
  explicit TraceText(const Trace& trace) : trace_(trace) {}

  // One line for each event with everything that is known about it, sorted.
  [[nodiscard]] std::vector<std::string> events() const {
    std::vector<std::string> lines;
    for (const Track& track : trace_.tracks())
      for (std::size_t depth = 0; depth < track.lanes.size(); ++depth) {
        const Lane& lane = trace_.lane(track.lanes[depth]);
        for (EventIndex i = 0; i < lane.size(); ++i) lines.push_back(line(track.key, depth, lane.event(i)));
      }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  // One line for each process, thread, device, context, stream, domain and category, sorted.
  [[nodiscard]] std::vector<std::string> resources() const {
    std::vector<std::string> lines;
    const auto add = [&](auto&&... parts) {
      std::ostringstream text;
      ((text << parts << '|'), ...);
      lines.push_back(text.str());
    };
    for (ProcessId id = 0; id < trace_.processes().size(); ++id) add("process", process(id), trace_.processes()[id].name);
    for (const Thread& thread : trace_.threads())
      add("thread", process(thread.process), thread.tid, thread.name, thread.priority ? std::to_string(*thread.priority) : "");
    for (const CudaDevice& device : trace_.devices()) {
      const Gpu& gpu = trace_.gpus()[device.gpu];
      add("device", process(device.process), device.ordinal, gpu.name, gpu.bus_id, gpu.uuid, gpu.multiprocessor_count, gpu.compute_major, gpu.compute_minor,
          gpu.memory_bytes, gpu.memory_bandwidth, gpu.core_clock_khz, gpu.max_warps_per_multiprocessor, gpu.max_blocks_per_multiprocessor,
          gpu.max_registers_per_multiprocessor, gpu.max_shared_memory_per_multiprocessor);
    }
    for (const CudaContext& context : trace_.contexts()) add("context", process(context.process), context.id, context.device_ordinal, context.null_stream);
    for (const CudaStream& stream : trace_.streams())
      add("stream", process(stream.process), stream.context, stream.id, stream.priority, stream.kind, stream.name);
    for (const NvtxDomainName& domain : trace_.domains()) add("domain", process(domain.process), domain.id, domain.name);
    for (const NvtxCategoryName& category : trace_.categories()) add("category", process(category.process), category.domain, category.id, category.name);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  std::string process(ProcessId id) const {
    if (id == kNone) return "-";
    // Processes that had one pid after another are distinguished by their order.
    std::size_t before = 0;
    for (ProcessId other = 0; other < id; ++other) before += trace_.processes()[other].pid == trace_.processes()[id].pid ? 1 : 0;
    return std::to_string(trace_.processes()[id].pid) + (before > 0 ? "#" + std::to_string(before) : "");
  }
  std::string thread(ThreadId id) const { return id == kNone ? "-" : std::to_string(trace_.threads()[id].tid); }
  std::uint32_t ordinal(const TrackKey& key) const {
    for (const CudaDevice& device : trace_.devices())
      if (device.process == key.process && device.gpu == key.gpu) return device.ordinal;
    return kNone;
  }

  std::string line(const TrackKey& key, std::size_t depth, const Event& event) const {
    std::ostringstream text;
    text << static_cast<int>(key.kind) << '|' << process(key.process) << '|' << thread(key.thread) << '|' << ordinal(key) << '|' << key.context << '|'
         << key.stream << '|' << key.domain << '|';
    if (key.kind == TrackKind::kProcessors) text << "processor " << key.processor << '|';
    if (key.kind == TrackKind::kNvtxRanges) text << "depth " << depth << '|';
    text << event.start << '|' << event.duration << '|' << trace_.name(event.name) << '|' << event.correlation << '|';
    write_detail(text, key.kind, event.detail);
    return text.str();
  }

  void write_detail(std::ostream& text, TrackKind kind, DetailId id) const {
    const auto write = [&](auto... values) { ((text << static_cast<std::uint64_t>(values) << ' '), ...); };
    switch (kind) {
      case TrackKind::kKernels: {
        const KernelDetail& d = trace_.kernel_detail(id);
        text << trace_.name(d.mangled_name) << '|' << trace_.name(d.short_name) << '|';
        write(d.grid[0], d.grid[1], d.grid[2], d.block[0], d.block[1], d.block[2], d.cluster[0], d.cluster[1], d.cluster[2], d.registers_per_thread,
              d.static_shared_memory, d.dynamic_shared_memory, d.shared_memory_executed, d.local_memory_per_thread, d.local_memory_total, d.launch_type,
              d.cache_config, d.graph, d.graph_node, d.finished);
        break;
      }
      case TrackKind::kMemory: {
        const MemoryDetail& d = trace_.memory_detail(id);
        write(d.operation, d.copy_kind, d.source_memory, d.destination_memory, d.value, d.bytes, d.source_device, d.destination_device, d.source_context,
              d.destination_context, d.graph, d.graph_node, d.virtual_address, d.migration_cause);
        break;
      }
      case TrackKind::kCudaApi:
        write(trace_.api_detail(id).domain, trace_.api_detail(id).result);
        break;
      case TrackKind::kSynchronizations:
        write(trace_.synchronization_detail(id).type, trace_.synchronization_detail(id).event, trace_.synchronization_detail(id).event_record);
        break;
      case TrackKind::kGraphLaunches:
        write(trace_.graph_launch_detail(id).graph, trace_.graph_launch_detail(id).graph_exec);
        break;
      case TrackKind::kNvtxRanges:
      case TrackKind::kNvtxProcessRanges:
      case TrackKind::kNvtxMarks: {
        const NvtxDetail& d = trace_.nvtx_detail(id);
        write(d.category, d.color, d.payload, d.payload_type, d.finished);
        text << thread(d.end_thread) << '|' << trace_.name(d.payload_json);
        break;
      }
      case TrackKind::kPageFaults: {
        const PageFaultDetail& d = trace_.page_fault_detail(id);
        write(d.address, d.program_counter, d.source_line, d.count, d.access);
        text << trace_.name(d.function) << '|' << trace_.name(d.module) << '|' << trace_.name(d.source_file);
        break;
      }
      case TrackKind::kThreadStates:
      case TrackKind::kProcessors:
        write(trace_.thread_state_detail(id).state, trace_.thread_state_detail(id).processor);
        break;
      case TrackKind::kCpuSamples:
      case TrackKind::kBacktraces: {
        const SampleDetail& d = trace_.sample_detail(id);
        write(d.origin, d.processor, d.period);
        text << chain(d.call_node);
        break;
      }
      case TrackKind::kCudaEvents:
        write(trace_.cuda_event_detail(id).event, trace_.cuda_event_detail(id).record);
        break;
      case TrackKind::kMemoryUsage: {
        const MemoryUsageDetail& d = trace_.memory_usage_detail(id);
        write(d.operation, d.memory_kind, d.address, d.bytes, d.context, d.stream, d.pool, d.pool_size, d.pool_utilized, d.pool_release_threshold);
        text << trace_.name(d.variable);
        break;
      }
      default:
        write(id);
    }
  }

  // "leaf(a.c:3) in /lib/a.so < main in /bin/program": innermost first.
  std::string chain(CallNodeId id) const {
    const CallStacks& stacks = trace_.call_stacks();
    std::ostringstream text;
    for (const CodeLocationId location : stacks.chain(id)) {
      const CodeLocation& place = stacks.location(location);
      for (const CodeFunction& at : stacks.functions(location))
        text << trace_.name(at.function) << '(' << trace_.name(at.source_file) << ':' << at.source_line << ')';
      text << " in " << trace_.name(place.module) << ' ' << trace_.name(place.build_id) << ' ' << place.address << ' ' << static_cast<int>(place.kind) << " < ";
    }
    return text.str();
  }

  const Trace& trace_;
};

// Empty if the lines are equal, else the first that only one side has, and how many there are.
inline std::string difference(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<std::string> lost;
  std::vector<std::string> added;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(lost));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  if (lost.empty() && added.empty()) return {};
  return std::to_string(lost.size()) + " of " + std::to_string(before.size()) + " lost, " + std::to_string(added.size()) + " added:\n- " +
         (lost.empty() ? "" : lost.front()) + "\n+ " + (added.empty() ? "" : added.front());
}

}  // namespace lanescope::test
