// file_access_sum: files, with the data that was read from them and written to them.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

#include "../label_groups.h"
#include "../report_functions.h"
#include "model/trace/domains/file_access.h"

namespace lanescope::stats {
namespace {

struct File {
  std::uint64_t read = 0;  // bytes, like the others
  std::uint64_t written = 0;
  std::uint64_t mapped = 0;
  std::array<std::int64_t, 6> operations{};  // by FileOperation
  Nanoseconds time = 0;
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  std::set<ProcessId> processes;

  void add(const NvtxDetail& use, ProcessId process, const EventView& range) {
    ++operations[use.category];
    const auto operation = static_cast<FileOperation>(use.category);
    if (operation == FileOperation::kRead) read += use.payload;
    if (operation == FileOperation::kWrite) written += use.payload;
    if (operation == FileOperation::kMap) mapped += use.payload;
    time += range.duration();
    first = std::min(first, range.start());
    last = std::max(last, range.start() + range.duration());
    processes.insert(process);
  }
  [[nodiscard]] std::int64_t count(FileOperation operation) const { return operations[static_cast<std::size_t>(operation)]; }
};

std::int64_t cell(std::uint64_t bytes) { return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max())); }

}  // namespace

Table file_access_sum(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  GroupsByIds<1, File> files;
  selection.for_each(TrackKind::kNvtxRanges, [&](const Track& track, const EventView& range) {
    if (trace.domain_name(track.key.process, track.key.domain) != kFileAccessDomain) return;
    const NvtxDetail& use = trace.nvtx_detail(range.detail());
    if (use.category < std::tuple_size_v<decltype(File::operations)>) files[{range.name()}].add(use, track.key.process, range);
  });
  std::vector<std::pair<NameId, const File*>> rows;
  for (const auto& [ids, file] : files) rows.emplace_back(ids[0], &file);
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    if (a.second->time != b.second->time) return a.second->time > b.second->time;
    return trace.name(a.first) < trace.name(b.first);
  });

  Table table({integers("Total Time", Unit::kNanoseconds), integers("Operations"), integers("Read (B)"), integers("Written (B)"), integers("Mapped (B)"),
               integers("Opens"), integers("Reads"), integers("Writes"), integers("Maps"), integers("Syncs"), integers("First", Unit::kNanoseconds),
               integers("Last", Unit::kNanoseconds), integers("Processes"), texts("File")});
  for (const auto& [name, file] : rows) {
    std::int64_t operations = 0;
    for (const std::int64_t count : file->operations) operations += count;
    table.add_row(file->time, operations, cell(file->read), cell(file->written), cell(file->mapped), file->count(FileOperation::kOpen),
                  file->count(FileOperation::kRead), file->count(FileOperation::kWrite), file->count(FileOperation::kMap), file->count(FileOperation::kSync),
                  file->first, file->last, static_cast<std::int64_t>(file->processes.size()), table.add_text(std::string(trace.name(name))));
  }
  return table;
}

}  // namespace lanescope::stats
