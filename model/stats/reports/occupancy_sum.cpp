// Kernels by name and launch shape, with what is known about how they fill the GPU.
#include <algorithm>
#include <map>
#include <tuple>

#include "../columns/device_text.h"
#include "../columns/kernel_names.h"
#include "../in_parts.h"
#include "../label_groups.h"
#include "../report_functions.h"
#include "grid_text.h"
#include "model/kernels/occupancy.h"

namespace lanescope::stats {
namespace {

// The values that decide how a launch fills a GPU.
using Shape = std::tuple<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t>;
Shape shape_of(const KernelDetail& d) {
  return {{d.grid[0], d.grid[1], d.grid[2]},
          {d.block[0], d.block[1], d.block[2]},
          {d.cluster[0], d.cluster[1], d.cluster[2]},
          d.registers_per_thread,
          d.static_shared_memory,
          d.dynamic_shared_memory,
          d.shared_memory_executed};
}

// Durations by GPU, name and launch shape. Many details share a shape, which is identified by the number of the first of them.
class LaunchesByShape {
 public:
  void add(const Trace& trace, GpuId gpu, NameId name, DetailId detail, Nanoseconds duration) {
    if (detail >= shapes_.size()) shapes_.resize(detail + 1, kNone);
    if (shapes_[detail] == kNone) shapes_[detail] = first_of_shape_.try_emplace(shape_of(trace.kernel_detail(detail)), detail).first->second;
    samples_.add({gpu, name, shapes_[detail]}, duration);
  }
  template <typename Take>
  void for_each(Take take) {
    samples_.for_each(take);
  }

 private:
  std::map<Shape, DetailId> first_of_shape_;
  std::vector<DetailId> shapes_;  // by detail
  SamplesByIds<3> samples_;
};

struct Row {
  GpuId gpu;
  NameId name;
  DetailId detail;
  Summary summary;
};

std::size_t count_of(Samples& samples) {
  const Samples::All all = samples.all();
  std::size_t count = all.plain.size();
  for (const Samples::Counted& counted : all.counted) count += counted.count;
  return count;
}

std::vector<Row> rows_of(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const auto add = [&](LaunchesByShape& launches, const Track& track, const EventView& kernel) {
    launches.add(trace, track.key.gpu, kernel_name(trace, kernel, options.kernel_names), kernel.detail(), kernel.duration());
  };
  // The split of memory between L1 and shared counts only by the number of blocks for which it leaves room: for launches whose counters were read, and
  // for the first launch of a kernel, CUPTI reports the split of another kernel.
  const auto key_of = [&](GpuId gpu, NameId name, DetailId detail) {
    KernelDetail without_split = trace.kernel_detail(detail);
    const auto multiprocessor = gpu < trace.gpus().size() ? kernels::multiprocessor_of(trace.gpus()[gpu]) : std::nullopt;
    const auto occupancy = multiprocessor ? kernels::occupancy(without_split, *multiprocessor) : std::nullopt;
    if (occupancy) without_split.shared_memory_executed = 0;
    return std::tuple(gpu, name, shape_of(without_split), occupancy ? occupancy->blocks : 0);
  };
  struct Group {
    DetailId detail = kNone;  // of most of its launches
    std::size_t most = 0;     // number of these launches
    Samples durations;
  };
  std::map<std::tuple<GpuId, NameId, Shape>, std::pair<DetailId, Samples>> by_shape;
  for (LaunchesByShape& part : visit_in_parts(selection, TrackKind::kKernels, LaunchesByShape(), add))
    part.for_each([&](const std::array<std::uint32_t, 3>& ids, Samples durations) {
      auto& same = by_shape.try_emplace({ids[0], ids[1], shape_of(trace.kernel_detail(ids[2]))}, ids[2], Samples()).first->second;
      same.second.append(std::move(durations));
    });
  std::map<std::tuple<GpuId, NameId, Shape, std::uint32_t>, Group> groups;
  for (auto& [key, same] : by_shape) {
    Group& group = groups[key_of(std::get<0>(key), std::get<1>(key), same.first)];
    if (const std::size_t launches = count_of(same.second); launches > group.most) {
      group.detail = same.first;
      group.most = launches;
    }
    group.durations.append(std::move(same.second));
  }
  std::vector<Row> rows;
  for (auto& [key, group] : groups) rows.push_back({std::get<0>(key), std::get<1>(key), group.detail, summarize(group.durations, options.percentiles)});
  // Numbers of names depend on the file, so equal rows are ordered by the names themselves.
  const auto key = [&](const Row& row) { return std::tuple(-row.summary.total, trace.name(row.name), row.gpu, shape_of(trace.kernel_detail(row.detail))); };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return rows;
}

}  // namespace

Table occupancy_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const std::vector<Row> rows = rows_of(selection, options);
  double everything = 0;
  for (const Row& row : rows) everything += static_cast<double>(row.summary.total);
  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers("Instances")};
  append_summary_columns(columns, "", Unit::kNanoseconds, options.percentiles);
  for (Column column : {reals("Occupancy", Unit::kPercent), texts("Limited by"), texts("More with"), integers("Blocks/SM"), reals("Waves"),
                        reals("Empty in Last Wave", Unit::kPercent), reals("SMs without Block", Unit::kPercent), integers("Reg/Trd"),
                        integers("Shared Memory", Unit::kBytes), texts("GridXYZ"), texts("BlockXYZ"), texts("Device"), texts("Name")})
    columns.push_back(std::move(column));
  Table table(std::move(columns));
  const DeviceTexts devices(trace);
  for (const Row& row : rows) {
    const KernelDetail& detail = trace.kernel_detail(row.detail);
    std::vector<Cell> cells = {everything > 0 ? 100.0 * static_cast<double>(row.summary.total) / everything : 0.0, row.summary.total, row.summary.count};
    append_summary_cells(cells, row.summary, options.percentiles);
    const Gpu gpu = row.gpu < trace.gpus().size() ? trace.gpus()[row.gpu] : Gpu();
    const auto multiprocessor = kernels::multiprocessor_of(gpu);
    const auto occupancy = multiprocessor ? kernels::occupancy(detail, *multiprocessor) : std::nullopt;
    const auto waves = occupancy ? kernels::waves(detail, gpu, *occupancy) : std::nullopt;
    const auto reliefs = occupancy ? kernels::reliefs(detail, *multiprocessor) : std::vector<kernels::Relief>();
    cells.emplace_back(occupancy ? 100 * occupancy->share() : kNoReal);
    cells.emplace_back(table.add_text(occupancy ? kernels::limiters_text(*occupancy).english() : std::string()));
    cells.emplace_back(table.add_text(reliefs.empty() ? std::string() : kernels::relief_text(reliefs.front(), detail).english()));
    cells.emplace_back(occupancy ? std::int64_t{occupancy->blocks} : kNoInteger);
    cells.emplace_back(waves ? waves->waves() : kNoReal);
    cells.emplace_back(waves ? 100 * waves->tail_share() : kNoReal);
    cells.emplace_back(waves ? 100 * waves->idle_multiprocessors() : kNoReal);
    cells.emplace_back(std::int64_t{detail.registers_per_thread});
    cells.emplace_back(std::int64_t{detail.static_shared_memory} + detail.dynamic_shared_memory);
    cells.emplace_back(table.add_text(grid_text(detail.grid)));
    cells.emplace_back(table.add_text(grid_text(detail.block)));
    cells.emplace_back(table.add_text(gpu.name.empty() ? std::string() : devices.of(row.gpu)));
    cells.emplace_back(table.add_text(std::string(trace.name(row.name))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats
