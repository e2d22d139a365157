#include "processes/ended_programs.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include "model/file/last_path_part.h"

namespace lanescope::session {

bool is_other_process(const Generation& a, const Generation& b) noexcept { return a.started != 0 && b.started != 0 && a.started != b.started; }

Kinship kinship(const Generation& known, const Generation& reporting) noexcept {
  if (reporting.begin == known.begin) return Kinship::kSame;
  return reporting.begin < known.begin ? Kinship::kEarlier : Kinship::kLater;
}

bool same_program(const ProcessDescription& a, const ProcessDescription& b) {
  return same_file(a.executable, b.executable) && (a.arguments.empty() || b.arguments.empty() || a.arguments == b.arguments);
}

std::string title(pid_t pid, std::string_view executable) {
  const std::string_view name = executable.empty() ? std::string_view("(ended)") : last_path_part(executable);
  return "[" + std::to_string(pid) + "] " + std::string(name);
}

bool is_path(std::string_view executable) noexcept { return executable.find('/') != std::string_view::npos; }

bool same_file(std::string_view a, std::string_view b) noexcept {
  if (!is_path(a) || !is_path(b)) return true;
  constexpr std::string_view kGone = " (deleted)";
  for (std::string_view* path : {&a, &b})
    if (path->ends_with(kGone)) path->remove_suffix(kGone.size());
  const bool is_absolute = a.starts_with('/') && b.starts_with('/');
  return a == b || (is_absolute && (a.ends_with(b) || b.ends_with(a)));
}

bool EndedProgram::is_of_same_process(const Generation& reporting) const noexcept { return !is_other_process(generation, reporting) && reporting.begin <= end; }

void EndedPrograms::add(EndedProgram program) {
  constexpr std::size_t kMost = 4096;
  order_.push_back({program.generation.pid, program.instance});
  programs_[program.generation.pid].push_back(std::move(program));
  if (order_.size() > kMost) forget_oldest();
}

void EndedPrograms::forget_oldest() {
  const Entry oldest = order_.front();
  order_.pop_front();
  const auto found = programs_.find(oldest.pid);
  if (found == programs_.end() || found->second.front().instance != oldest.instance) return;  // it was forgotten with its process
  found->second.pop_front();
  if (found->second.empty()) programs_.erase(found);
}

EndedProgram* EndedPrograms::last(pid_t pid) {
  const auto found = programs_.find(pid);
  return found == programs_.end() ? nullptr : &found->second.back();
}

template <typename Condition>
EndedProgram* EndedPrograms::first(pid_t pid, Condition condition) {
  const auto found = programs_.find(pid);
  if (found == programs_.end()) return nullptr;
  const auto program = std::find_if(found->second.begin(), found->second.end(), condition);
  return program == found->second.end() ? nullptr : &*program;
}

EndedProgram* EndedPrograms::begun(pid_t pid, std::int64_t time, std::string_view executable) {
  return first(pid, [&](const EndedProgram& each) {
    return !each.is_seen && time <= (each.reported != 0 ? each.reported : each.end) && same_file(each.executable, executable);
  });
}

EndedProgram* EndedPrograms::reported_since(pid_t pid, std::int64_t time) {
  return first(pid, [&](const EndedProgram& each) { return each.reported != 0 && time <= each.reported; });
}

EndedProgram* EndedPrograms::before(pid_t pid, std::int64_t time) {
  const auto found = programs_.find(pid);
  if (found == programs_.end()) return nullptr;
  const auto program = std::find_if(found->second.rbegin(), found->second.rend(), [&](const EndedProgram& each) { return each.start <= time; });
  return program == found->second.rend() ? nullptr : &*program;
}

void EndedPrograms::forget(pid_t pid) { programs_.erase(pid); }

}  // namespace lanescope::session
