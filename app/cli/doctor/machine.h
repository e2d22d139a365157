// What a machine says of itself in its files, and what follows for recordings. Each function looks at one part of it, and takes what can't
// be read from files as an argument. Any thread; a millisecond at most.
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
  std::filesystem::path root = "/";  // under which proc, sys and the like are
  uid_t user = 0;                    // who records
  std::string processor = "x86_64";  // as uname has it
};

// None where the kernel's files of processes are there, without which nothing else can be told of the machine.
std::optional<Finding> missing_process_files(const Machine& machine);
// `cuda`: the version that the driver serves, 13000 for 13.0; none where programs can't load it.
Finding driver_finding(const Machine& machine, std::optional<int> cuda);
Finding gpus_finding(const Machine& machine);
Finding attach_finding(const Machine& machine);
Finding counters_finding(const Machine& machine);
Finding threads_finding(const Machine& machine, const cpu::Access& access);

struct Cupti {
  std::filesystem::path place;
  std::uint32_t version = 0;  // as cuptiGetVersion() says
};
// The ones that were found, in the order in which the agent looks. `named`: by LANESCOPE_CUPTI_LIBRARY.
Finding cupti_finding(std::optional<int> cuda, const std::vector<Cupti>& found);

struct Limits {                            // in bytes or files; none: unlimited
  std::optional<std::uint64_t> files;      // open at once, at most
  std::optional<std::uint64_t> file_size;  // of a file
  std::optional<std::uint64_t> addresses;  // of a program
};
// Those of this process, as its parent has set them, and those of the kernel.
Finding limits_finding(const Machine& machine, const Limits& limits);

struct Place {
  std::string purpose;  // "files are made in"
  std::filesystem::path folder;
  bool is_writable = false;
  std::uint64_t free_bytes = 0;
};
Finding space_finding(const std::vector<Place>& places);

// Parts of Lanescope that are looked for beside the program; `missing`: their names.
Finding parts_finding(const std::filesystem::path& folder, const std::vector<std::string>& missing);

// What an interpreter answered to "version, and which modules are missing", a line each; none where there is no interpreter.
Finding python_finding(const std::string& interpreter, const std::optional<std::string>& answer);

// The viewer; empty where there is none. `problem`: why it does not start, empty where it does.
Finding viewer_finding(const std::filesystem::path& viewer, const std::string& problem);

}  // namespace lanescope::cli
