// The file in which a program says what it calls the code that it makes at run time: /tmp/perf-PID.map.
//
// Anybody may write such a file for any process: it counts where it belongs to the process's user, or root, and is no link. It is taken in
// up to a limit, and all such files of a recording together are.
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

// What the maps of a recording may still take, in bytes.
struct PerfMapBudget {
  std::atomic<std::uint64_t> left = std::uint64_t{512} << 20;
};

class PerfMap {
 public:
  // The process lives.
  PerfMap(pid_t process, std::shared_ptr<PerfMapBudget> budget);
  ~PerfMap();
  PerfMap(const PerfMap&) = delete;
  PerfMap& operator=(const PerfMap&) = delete;

  // Takes in what was written since the last time. Cheap when that is nothing.
  void refresh();
  // The name of the code there; empty when the program has not named it. The program may name code again: the last word counts.
  [[nodiscard]] std::string_view find(std::uint64_t address) const;
  // Whether there was more than is taken in.
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
  std::optional<uid_t> user_;  // none where the process was gone
  std::string own_path_;       // where the process itself writes it, below its root
  std::uint64_t read_ = 0;     // bytes of whole lines
  std::uint64_t size_ = 0;     // of the file, at the last look
  std::uint64_t taken_ = 0;    // of the budget
  bool is_cut_ = false;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace lanescope::cpu
