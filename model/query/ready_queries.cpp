#include "model/query/query.h"
#include "model/text/to_translate.h"

namespace lanescope::query {

const std::vector<ReadyQuery>& ready_queries() {
  static const std::vector<ReadyQuery> kQueries = {
      {to_translate("Kernels by name"),
       "SELECT short_name, count(*) AS kernels, sum(duration), avg(duration), max(duration)\n"
       "FROM kernels WHERE start >= :begin AND start < :end\n"
       "GROUP BY short_name ORDER BY 3 DESC"},
      {to_translate("Kernels by name, grid and block"),
       "SELECT short_name, grid_x, grid_y, grid_z, block_x, block_y, block_z, count(*) AS kernels, sum(duration), avg(duration)\n"
       "FROM kernels WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 9 DESC"},
      {to_translate("Kernels by stream"),
       "SELECT process, device, stream, count(*) AS kernels, sum(duration), avg(duration)\n"
       "FROM kernels WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1, 2, 3 ORDER BY 5 DESC"},
      {to_translate("Longest kernels"),
       "SELECT start, duration, name, stream, grid_x, block_x\n"
       "FROM kernels WHERE start >= :begin AND start < :end\n"
       "ORDER BY duration DESC LIMIT 100"},
      {to_translate("Ranges by family"),
       "SELECT family(name) AS family, count(*) AS ranges, sum(duration), avg(duration), max(duration)\n"
       "FROM nvtx_ranges WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1 ORDER BY 3 DESC"},
      {to_translate("Copies by kind and memory"),
       "SELECT kind, source_memory, destination_memory, count(*) AS copies, sum(bytes), sum(duration),\n"
       "       1.0 * sum(bytes) / nullif(sum(duration), 0) AS gigabytes_per_second\n"
       "FROM copies WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1, 2, 3 ORDER BY 6 DESC"},
      {to_translate("CUDA calls by name and thread"),
       "SELECT name, thread, count(*) AS calls, sum(duration), max(duration)\n"
       "FROM api_calls WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1, 2 ORDER BY 4 DESC"},
      {to_translate("Kernels that waited longest after their launch"),
       "SELECT start, duration, short_name, start - launch_start - launch_duration AS waited_ns, launch_name\n"
       "FROM kernels WHERE start >= :begin AND start < :end AND launch_start IS NOT NULL\n"
       "ORDER BY waited_ns DESC LIMIT 100"},
      {to_translate("Calls of the C library by name"),
       "SELECT name, thread, count(*) AS calls, sum(duration), max(duration)\n"
       "FROM os_runtime WHERE start >= :begin AND start < :end\n"
       "GROUP BY 1, 2 ORDER BY 4 DESC"},
  };
  return kQueries;
}

}  // namespace lanescope::query
