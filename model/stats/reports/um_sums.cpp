// um_sum, um_total_sum, um_cpu_page_faults_sum: data that moved between the memories of CPU and GPU, and the faults that made it move.
#include <algorithm>
#include <map>

#include "../report_functions.h"
#include "model/trace/text/hexadecimal.h"

namespace lanescope::stats {
namespace {

// Traffic of the pages at one address, or of all pages.
struct Traffic {
  std::int64_t to_device = 0, to_host = 0;  // bytes
  std::int64_t cpu_faults = 0, gpu_faults = 0;
  Nanoseconds time = 0;  // of the copies
  // Bytes a second, by Nsight Systems' arithmetic: bytes, multiplied by the whole number of times that the copies' time fits into a second.
  [[nodiscard]] double throughput() const noexcept {
    constexpr Nanoseconds kSecond = 1'000'000'000;
    return time > 0 ? static_cast<double>((to_device + to_host) * (kSecond / time)) : kNoReal;
  }
};

// Nsight Systems leaves out zeros.
std::int64_t unless_none(std::int64_t count) { return count != 0 ? count : kNoInteger; }

// Calls the visitor for each event of unified memory: visit(address, traffic) with what the event adds.
template <typename Visit>
void for_each_event(const Selection& selection, Visit visit) {
  const Trace& trace = selection.trace();
  selection.for_each(TrackKind::kMemory, [&](const Track&, const EventView& copy) {
    const MemoryDetail& detail = trace.memory_detail(copy.detail());
    const auto bytes = static_cast<std::int64_t>(detail.bytes);
    if (detail.copy_kind == CopyKind::kUnifiedHostToDevice)
      visit(detail.virtual_address, Traffic{.to_device = bytes, .time = copy.duration()});
    else if (detail.copy_kind == CopyKind::kUnifiedDeviceToHost)
      visit(detail.virtual_address, Traffic{.to_host = bytes, .time = copy.duration()});
  });
  selection.for_each(TrackKind::kPageFaults, [&](const Track& track, const EventView& fault) {
    const PageFaultDetail& detail = trace.page_fault_detail(fault.detail());
    visit(detail.address, track.key.gpu == kNone ? Traffic{.cpu_faults = detail.count} : Traffic{.gpu_faults = detail.count});
  });
}

void add(Traffic& sum, const Traffic& more) {
  sum.to_device += more.to_device;
  sum.to_host += more.to_host;
  sum.cpu_faults += more.cpu_faults;
  sum.gpu_faults += more.gpu_faults;
  sum.time += more.time;
}

}  // namespace

Table um_sum(const Selection& selection, const ReportOptions&) {
  std::map<std::uint64_t, Traffic> by_address;
  for_each_event(selection, [&](std::uint64_t address, const Traffic& traffic) { add(by_address[address], traffic); });
  std::vector<std::pair<std::uint64_t, Traffic>> rows(by_address.begin(), by_address.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const Traffic& traffic) { return traffic.time > 0 ? traffic.throughput() : -1; };
    return rank(a.second) > rank(b.second);
  });
  // The headings are exactly those of Nsight Systems.
  Table table({texts("Virtual Address"), integers("HtoD Migration size", Unit::kBytes), integers("DtoH Migration size", Unit::kBytes),
               integers("CPU Page Faults"), integers(" GPU Page Faults"), reals("Migration Throughput", Unit::kBytesPerSecond)});
  for (const auto& [address, traffic] : rows)
    table.add_row(table.add_text(hexadecimal(address)), unless_none(traffic.to_device), unless_none(traffic.to_host), unless_none(traffic.cpu_faults),
                  unless_none(traffic.gpu_faults), traffic.throughput());
  return table;
}

Table um_total_sum(const Selection& selection, const ReportOptions&) {
  Traffic total;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max(), largest = 0;
  bool any = false;
  for_each_event(selection, [&](std::uint64_t address, const Traffic& traffic) {
    add(total, traffic);
    smallest = std::min(smallest, address);
    largest = std::max(largest, address);
    any = true;
  });
  Table table({integers("Total HtoD Migration Size", Unit::kBytes), integers("Total DtoH Migration Size", Unit::kBytes), integers("Total CPU Page Faults"),
               integers("Total GPU PageFaults"), texts("Minimum Virtual Address"), texts("Maximum Virtual Address")});
  if (any)
    table.add_row(total.to_device, total.to_host, total.cpu_faults, total.gpu_faults, table.add_text(hexadecimal(smallest)),
                  table.add_text(hexadecimal(largest)));
  return table;
}

Table um_cpu_page_faults_sum(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  // The shown values, so that equal texts are grouped.
  struct Place {
    std::string instruction, file;
    std::int64_t line;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, std::int64_t> by_place;
  selection.for_each(TrackKind::kPageFaults, [&](const Track& track, const EventView& fault) {
    if (track.key.gpu != kNone) return;
    const PageFaultDetail& detail = trace.page_fault_detail(fault.detail());
    by_place[{detail.function != 0 ? std::string(trace.name(detail.function)) : hexadecimal(detail.program_counter),
              std::string(trace.name(detail.source_file)), detail.source_line != 0 ? std::int64_t{detail.source_line} : kNoInteger}] += detail.count;
  });
  std::vector<std::pair<Place, std::int64_t>> rows(by_place.begin(), by_place.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({integers("CPU Page Faults"), texts("CPU Instruction Address"), texts("Source File"), identifiers("Source Line")});
  for (auto& [place, count] : rows) table.add_row(count, table.add_text(place.instruction), table.add_text(place.file), place.line);
  return table;
}

}  // namespace lanescope::stats
