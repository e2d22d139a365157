// Any bytes as a CSV of Nsight Compute; what is read is exported again in a text format.
#include <cstdlib>
#include <string>

#include "fuzz_target.h"
#include "model/export/text_export.h"
#include "model/import/ncu_csv.h"
#include "scratch_file.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file(".csv");
  file.write(data, size);
  (void)looks_like_ncu_csv({reinterpret_cast<const char*>(data), size});
  const auto table = read_ncu_csv(file.path());
  const auto trace = import_ncu_csv(file.path());
  if (table.has_value() != trace.has_value()) std::abort();
  if (trace && !export_json(**trace, [](std::string_view) { return true; })) std::abort();
  return 0;
}

std::vector<std::string> valid_inputs() {
  const std::string header = R"csv("ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC")csv";
  const std::string columns =
      header + R"(,"gpu__time_duration.sum","launch__registers_per_thread","sm__throughput.avg.pct_of_peak_sustained_elapsed","dram__bytes_read.sum")"
               "\n";
  const std::string units = R"csv("","","","","","","","","","","us","register/thread","%","Mbyte")csv"
                            "\n";
  const std::string rows =
      R"csv("0","71","python","void at::reduce<float, (int)4>(T1 *, ""x"")","1","7","(128, 1, 1)","(2,048, 2, 1)","0","9.0","12.50","32","61.73","1,048.576")csv"
      "\n"
      R"csv("1","71","python","copy","1","13","(32, 2, 4)","(1, 1, 1)","1","9.0","0.5","255","n/a","no data")csv"
      "\n";
  std::string wide;
  for (const char c : columns + units + rows) wide += {c, '\0'};
  return {"==PROF== Connected to process 71 (/usr/bin/python)\n" + columns + units + rows + "==PROF== Disconnected\n", "\xef\xbb\xbf" + columns + units + rows,
          "\xff\xfe" + wide, "ID,Process ID,Process Name,Kernel Name,gpu__time_duration.sum\r\n,,,,ns\r\n0,71,a.out,f,\"1,234\"\r\n",
          R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value")csv"
          "\n"};
}
