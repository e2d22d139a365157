// What the files of a machine say about it, and what follows for recordings. Each function looks at one part of the machine, and takes what can't be read
// from files as an argument. Any thread; at most a millisecond.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector/cpu/access.h"
#include "doctor/finding.h"

namespace lanescope::cli {

struct Machine {
  std::filesystem::path root = "/";  // the folder that has proc, sys and the like
  uid_t user = 0;                    // the user who records
  std::string processor = "x86_64";  // as uname prints it
};

// Returns nothing if the kernel's files of processes are there. Without them, nothing else can be found out about the machine.
std::optional<Finding> missing_process_files(const Machine& machine);
// `cuda`: the version that the driver supports, 13000 for 13.0; none if programs can't load the driver.
Finding driver_finding(const Machine& machine, std::optional<int> cuda);
Finding gpus_finding(const Machine& machine);
Finding attach_finding(const Machine& machine);
Finding counters_finding(const Machine& machine);
Finding threads_finding(const Machine& machine, const cpu::Access& access);

struct Cupti {
  std::filesystem::path place;
  std::uint32_t version = 0;  // from cuptiGetVersion()
};
// `found`: the libraries that were found, in the order in which the agent looks. If LANESCOPE_CUPTI_LIBRARY is set, only the library that it names is looked
// for.
Finding cupti_finding(std::optional<int> cuda, const std::vector<Cupti>& found);

struct Limits {                            // in bytes or files; none: unlimited
  std::optional<std::uint64_t> files;      // open at once, at most
  std::optional<std::uint64_t> file_size;  // of a file
  std::optional<std::uint64_t> addresses;  // of a program
};
// Reports the limits of this process, as its parent has set them, and those of the kernel.
Finding limits_finding(const Machine& machine, const Limits& limits);

struct Place {
  std::filesystem::path folder;
  bool is_writable = false;
  std::uint64_t free_bytes = 0;
};
Finding space_finding(const std::vector<Place>& places);

// Parts of Lanescope that are looked for next to the program; `missing`: their names.
Finding parts_finding(const std::filesystem::path& folder, const std::vector<std::string>& missing);

// `answer`: what an interpreter answered to "version, and which modules are missing", one a line; none if there is no interpreter.
Finding python_finding(const std::string& interpreter, const std::optional<std::string>& answer);

// `viewer`: empty if there is none. `problem`: why it does not start, empty if it starts.
Finding viewer_finding(const std::filesystem::path& viewer, const std::string& problem);

}  // namespace lanescope::cli
