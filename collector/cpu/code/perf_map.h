// The file in which a program names the code that it generates at run time: /tmp/perf-PID.map.
//
// Anybody can write such a file for any process. It is used only if it belongs to the process's user or root, and is not a link. There is a limit for
// each file, and one for all such files of a recording together.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "collector/attach/foreign_file.h"

namespace lanescope::cpu {

// "py::function:file", as CPython writes it.
struct PythonName {
  std::string_view function;
  std::string_view file;
};
[[nodiscard]] std::optional<PythonName> python_name(std::string_view name);

// Bytes that the maps of a recording may still use.
struct PerfMapBudget {
  std::atomic<std::uint64_t> left = std::uint64_t{512} << 20;
};

class PerfMap {
 public:
  // Requires: the process is alive.
  PerfMap(pid_t process, std::shared_ptr<PerfMapBudget> budget);
  ~PerfMap();
  PerfMap(const PerfMap&) = delete;
  PerfMap& operator=(const PerfMap&) = delete;

  // Reads what was written since the last call. Cheap if nothing was.
  void refresh();
  // The name of the code at an address; empty if the program has not named it. If the program names code again, the last name is used.
  [[nodiscard]] std::string_view find(std::uint64_t address) const;
  // True if the file had more than was read.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  [[nodiscard]] std::optional<attach::ForeignFile> open();
  [[nodiscard]] bool counts(const attach::ForeignFile& file) const;
  void take(std::string_view text);
  void add(std::string_view line);
  struct Entry {
    std::uint64_t end;
    std::string name;
  };
  pid_t process_;
  std::shared_ptr<PerfMapBudget> budget_;
  std::optional<uid_t> user_;  // nothing if the process had ended
  std::string own_path_;       // where the process itself writes the file, below its root
  std::uint64_t read_ = 0;     // bytes of complete lines
  std::uint64_t size_ = 0;     // size of the file at the last look
  std::uint64_t taken_ = 0;    // bytes taken from the budget
  bool is_cut_ = false;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace lanescope::cpu
