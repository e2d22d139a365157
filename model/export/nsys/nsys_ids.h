// How Nsight Systems numbers processes, threads and strings. Internal to model/export.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::exporters {

// Process and thread ids that fit in 24 bits are kept; others are replaced by free ones, from the top.
class NsysIds {
 public:
  explicit NsysIds(const Trace& trace);

  [[nodiscard]] std::uint32_t pid(ProcessId process) const { return pids_[process]; }
  // Processes that reuse a pid are in separate "virtual machines".
  [[nodiscard]] std::uint32_t virtual_machine(ProcessId process) const { return machines_[process]; }
  [[nodiscard]] std::int64_t global_pid(ProcessId process) const;
  [[nodiscard]] std::int64_t global_tid(ThreadId thread) const;
  // For an event on a track: of its thread, or of its process if no thread is known.
  [[nodiscard]] std::int64_t global_tid(const TrackKey& key) const;

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> pids_;
  std::vector<std::uint32_t> machines_;
  std::vector<std::uint32_t> tids_;
};

// Ids of the texts that tables refer to: names of the trace keep their ids, others get the following ones.
class NsysStrings {
 public:
  explicit NsysStrings(const Trace& trace) : trace_(trace), used_(trace.name_count()) {}
  std::int64_t id(NameId name) {
    used_[name] = true;
    return name;
  }
  std::int64_t id(std::string_view text);

  // Calls use(id, text) for each string that was requested, by id.
  template <typename Use>
  void for_each(Use use) const {
    for (std::size_t name = 0; name < used_.size(); ++name)
      if (used_[name]) use(static_cast<std::int64_t>(name), trace_.name(static_cast<NameId>(name)));
    for (std::size_t i = 0; i < others_.size(); ++i) use(static_cast<std::int64_t>(used_.size() + i), std::string_view(others_[i]));
  }

 private:
  const Trace& trace_;
  std::vector<bool> used_;
  std::vector<std::string> others_;
  std::map<std::string, std::int64_t, std::less<>> other_ids_;
};

}  // namespace lanescope::exporters
