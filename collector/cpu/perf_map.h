// The file in which a program says what it calls the code that it makes at run time: /tmp/perf-PID.map.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope::cpu {

// "py::function:file", as CPython writes it.
struct PythonName {
  std::string_view function;
  std::string_view file;
};
[[nodiscard]] std::optional<PythonName> python_name(std::string_view name);

class PerfMap {
 public:
  explicit PerfMap(pid_t process) : process_(process) {}

  // Takes in what was written since the last time. Cheap when that is nothing.
  void refresh();
  // The name of the code there; empty when the program has not named it. The program may name code again: the last word counts.
  [[nodiscard]] std::string_view find(std::uint64_t address) const;

 private:
  void add(std::string_view line);
  struct Entry {
    std::uint64_t end;
    std::string name;
  };
  pid_t process_;
  std::string path_;        // where it was found
  std::uint64_t read_ = 0;  // bytes of whole lines
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace lanescope::cpu
