// What the recorder knows of one program in one process.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "code/modules.h"
#include "code/perf_map.h"
#include "collector/cpu/recorder.h"
#include "process_encoder.h"
#include "python_locations.h"

namespace lanescope::cpu {

struct ProcessRecord {
  ProcessRecord(SeenProcess seen, std::uint64_t sample_period, ProcessEncoder::EmitChunk emit, std::shared_ptr<PerfMapBudget> perf_maps)
      : description(std::move(seen)),
        space(std::make_shared<AddressSpace>()),
        perf_map(description.pid, std::move(perf_maps)),
        encoder(sample_period, std::move(emit)) {}

  // Returns its own copy of the address space if it is shared with the process from which it forked.
  AddressSpace& own_space() {
    if (space.use_count() > 1) space = std::make_shared<AddressSpace>(*space);
    return *space;
  }

  SeenProcess description;
  bool is_announced = false;
  bool is_described = false;      // executable and arguments are this program's
  bool has_domains = false;       // its NVTX domains were described
  bool runs_new_program = false;  // it called exec, and its new file has not been mapped yet
  std::shared_ptr<AddressSpace> space;
  std::set<ThreadNumber> threads;
  std::map<ThreadNumber, std::string> names;
  std::unordered_map<std::uint64_t, std::uint32_t> locations;  // of code, by its present address in memory
  std::unordered_set<std::uint32_t> trampolines;               // locations that are Python functions, according to the perf map
  PerfMap perf_map;
  ProcessEncoder encoder;
  PythonLocations python_locations;
  std::uint64_t lost = 0;
  std::uint64_t produced_before = 0;  // produced in earlier parts
  bool seen_in_part = false;          // chunks were written in this part
};

// What /proc has about processes and threads that ran before they were observed.
struct ThreadNow {
  ThreadNumber thread = 0;
  std::string name;
  bool may_run = false;         // it runs, or waits for a processor
  std::uint32_t processor = 0;  // the processor on which it ran last
};
[[nodiscard]] std::vector<ThreadNow> threads_now(pid_t process);
[[nodiscard]] std::vector<pid_t> with_descendants(pid_t process);
struct ProcessNow {
  pid_t parent = 0;
  std::string executable;
  std::vector<std::string> arguments;
  bool of_kernel = false;  // a thread of the kernel
};
[[nodiscard]] ProcessNow process_now(pid_t process);

}  // namespace lanescope::cpu
