#include "processes/unfollowed/agent_obstacle.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "collector/attach/elf_headers.h"
#include "collector/attach/foreign_file.h"
#include "collector/attach/memory_map.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

// Returns false if the file ends before.
bool read_at(std::istream& file, std::uint64_t place, void* to, std::size_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(place));
  return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

// True if the file has a name by which others load it. A loader that was started with a program has one, and loads the agent besides that program.
bool is_library(std::istream& file, const attach::ElfHeaders& headers) {
  constexpr std::size_t kMostEntries = 1024;  // more than libraries have
  const Elf64_Phdr* const dynamic = headers.find(PT_DYNAMIC);
  if (dynamic == nullptr) return false;
  std::vector<Elf64_Dyn> entries(std::min<std::size_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries));
  if (!read_at(file, dynamic->p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return false;
  return std::any_of(entries.begin(), entries.end(), [](const Elf64_Dyn& each) { return each.d_tag == DT_SONAME; });
}

std::optional<std::string> obstacle_in(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::optional<attach::ElfHeaders> headers = attach::read_elf_headers(file);
  if (!headers) return std::nullopt;
  if (!headers->is_of_64_bits()) return "it is a 32-bit program";
  if (headers->segments.empty()) return std::nullopt;
  const Elf64_Phdr* const interpreter = headers->find(PT_INTERP);
  if (interpreter == nullptr) return is_library(file, *headers) ? std::nullopt : std::optional<std::string>("it is linked statically");
  std::array<char, 256> path{};
  if (!read_at(file, interpreter->p_offset, path.data(), std::min<std::size_t>(interpreter->p_filesz, path.size() - 1))) return std::nullopt;
  if (attach::is_musl(path.data())) return "it uses musl as its C library";
  return std::nullopt;
}

// The agent's path starts with the program's folder (launch/target_environment.cpp).
bool has_lost_its_folder(pid_t pid, const std::string& executable) {
  constexpr std::string_view kGone = " (deleted)";
  return executable.ends_with(kGone) && is_missing_for(pid, std::filesystem::path(executable).parent_path());
}

// It may have left for another root folder since its agent was loaded.
bool has_agent(pid_t pid) {
  const std::optional<std::vector<attach::Mapping>> map = attach::read_memory_map(pid);
  return map && attach::find_file(*map, attach::is_agent) != nullptr;
}

}  // namespace

std::optional<std::string> agent_obstacle(pid_t pid, const std::string& executable) {
  if (has_lost_its_folder(pid, executable)) return "the folder that its file lay in is gone, from which its loader would find the agent";
  if (has_no_proc(pid) && !has_agent(pid)) return "it has no /proc, by which its loader would find the agent";
  if (gains_rights(pid, executable))
    return "the system gives it rights that its user lacks (set-user-ID or set-group-ID mode, or capabilities of its file), and then its loader ignores "
           "LD_PRELOAD";
  if (attach::is_musl(executable)) return "it uses musl as its C library";  // it runs through musl's loader
  std::optional<attach::ForeignFile> file = attach::open_file_of(pid, executable);
  if (!file && access(("/proc/" + std::to_string(pid)).c_str(), F_OK) != 0) file = attach::open_file(executable);  // the process has ended
  return file ? obstacle_in(file->path()) : std::nullopt;
}

}  // namespace lanescope::session
