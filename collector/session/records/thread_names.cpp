#include "records/thread_names.h"

#include <utility>

#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kMaximumNamedThreads = 4096;
constexpr std::size_t kMaximumKnown = 65'536;  // names of threads, including ended ones

void add_name(std::uint32_t thread, const std::string& name, proto::Resources& resources) {
  proto::Thread& named = *resources.add_threads();
  named.set_id(thread);
  named.set_name(name);
}

}  // namespace

// Programs may start any number of threads. After the clearing, those that live are soon known again.
bool ThreadNames::is_new(std::uint32_t thread, const std::string& name) {
  if (by_kernel_.size() > kMaximumKnown) by_kernel_.clear();
  return !by_program_.contains(thread) && std::exchange(by_kernel_[thread], name) != name;
}

void ThreadNames::write_new(const std::map<std::uint32_t, std::string>& names) {
  if (names.empty() || !runs_still_()) return;
  proto::Resources resources;
  for (const auto& [thread, name] : names)
    if (is_new(thread, name)) add_name(thread, name, resources);
  if (resources.threads_size() > 0) log_.write(tag_, resources);
}

void ThreadNames::look() { write_new(thread_names(pid_, kMaximumNamedThreads)); }

void ThreadNames::look(const std::vector<std::uint32_t>& threads) {
  std::map<std::uint32_t, std::string> names;
  for (const std::uint32_t thread : threads)
    if (std::string name = thread_name(pid_, thread); !name.empty()) names.emplace(thread, std::move(name));
  write_new(names);
}

void ThreadNames::add(std::uint32_t thread, const std::string& name) {
  if (!is_new(thread, name)) return;
  proto::Resources resources;
  add_name(thread, name, resources);
  log_.write(tag_, resources);
}

void ThreadNames::add_by_program(std::uint32_t thread, std::string name) {
  proto::Resources resources;
  add_name(thread, name, resources);
  log_.write(tag_, resources);
  if (by_program_.size() > kMaximumKnown) by_program_.clear();
  by_program_.insert_or_assign(thread, std::move(name));
}

std::vector<std::uint32_t> ThreadNames::named_by_program() const {
  std::vector<std::uint32_t> threads;
  for (const auto& [thread, name] : by_program_) threads.push_back(thread);
  return threads;
}

}  // namespace lanescope::session
