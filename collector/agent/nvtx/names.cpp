#include "agent/nvtx/names.h"

#include "agent/channel/membership.h"
#include "agent/core/arena.h"
#include "agent/core/system_calls.h"
#include "agent/nvtx/payload.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::size_t kNamesLimit = 64u << 20;  // bytes

struct CategoryName {
  std::uint32_t domain;
  std::uint32_t category;
  std::string_view name;
  CategoryName* next;
};

struct ThreadName {
  std::uint32_t thread_id;
  std::string_view name;
  ThreadName* next;
};

struct CudaName {
  CudaResource resource;
  std::uint32_t context;
  std::uint32_t id;
  std::string_view name;
  CudaName* next;
};

struct Names {
  Arena arena{kNamesLimit};
  Domain* domains = nullptr;  // newest first, as are the others
  CategoryName* categories = nullptr;
  ThreadName* threads = nullptr;
  CudaName* of_cuda = nullptr;
  std::uint32_t forking_thread = 0;  // in a forked child: the id that its thread had in the parent
};
constinit Names names;
constinit Lock names_lock;
constinit thread_local std::uint32_t own_thread_id = 0;  // of the thread that named itself last; tells a forked child who it was

void tell_domain(const Domain& domain) noexcept {
  channel::Record record{};
  record.type = channel::RecordType::kDomainCreate;
  record.domain = domain.id;
  write_metadata(record, domain.name);
}

void tell_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept {
  channel::Record record{};
  record.type = channel::RecordType::kCategoryName;
  record.domain = domain;
  record.category = category;
  write_metadata(record, name);
}

void tell_thread(std::uint32_t thread_id, std::string_view name) noexcept {
  channel::Record record{};
  record.type = channel::RecordType::kThreadName;
  record.id = thread_id;
  write_metadata(record, name);
}

void tell_cuda_resource(const CudaName& named) noexcept {
  channel::Record record{};
  const bool is_stream = named.resource == CudaResource::kStream;
  record.type = is_stream ? channel::RecordType::kStreamName : channel::RecordType::kCudaName;
  record.category = is_stream ? named.context : static_cast<std::uint32_t>(named.resource);
  record.id = named.id;
  write_metadata(record, named.name);
}

// For another session, or in a forked child, where one alone of the parent's threads is left, under a new id. Newest entries come first:
// what counts per key is told once.
void repeat() noexcept {
  repeat_schemas();
  const ScopedLock lock(names_lock);  // other threads of the program go on naming
  for (const Domain* domain = names.domains; domain != nullptr; domain = domain->next) tell_domain(*domain);
  for (const CategoryName* entry = names.categories; entry != nullptr; entry = entry->next)
    tell_category(entry->domain, entry->category, entry->name);
  const bool is_forked = names.forking_thread != 0;
  for (const CudaName* entry = names.of_cuda; entry != nullptr && !is_forked; entry = entry->next) tell_cuda_resource(*entry);
  for (const ThreadName* entry = names.threads; entry != nullptr; entry = entry->next) {
    if (!is_forked) tell_thread(entry->thread_id, entry->name);
    if (is_forked && entry->thread_id == names.forking_thread)
      return tell_thread(static_cast<std::uint32_t>(system::process_id()), entry->name);
  }
}

}  // namespace

void prepare_names() noexcept {
  prepare_payloads();
  hold_across_forks(names_lock);
  on_rejoin(repeat);
  on_fork_child([] { names.forking_thread = own_thread_id; });
}

Domain* domain_named(std::string_view name) noexcept {
  Domain* domain = nullptr;
  {
    const ScopedLock lock(names_lock);
    for (Domain* known = names.domains; known != nullptr; known = known->next)
      if (known->name == name) return known;
    domain = names.arena.create<Domain>();
    if (domain == nullptr) return nullptr;
    domain->id = names.domains == nullptr ? 1 : names.domains->id + 1;
    domain->name = names.arena.copy(name);
    domain->next = names.domains;
    names.domains = domain;
  }
  tell_domain(*domain);
  return domain;
}

std::string_view domain_name(std::uint32_t id) noexcept {
  const ScopedLock lock(names_lock);
  for (const Domain* domain = names.domains; domain != nullptr; domain = domain->next)
    if (domain->id == id) return domain->name;
  return {};
}

RegisteredString* register_string(std::string_view text) noexcept {
  const ScopedLock lock(names_lock);
  auto* string = names.arena.create<RegisteredString>();
  if (string != nullptr) string->text = names.arena.copy(text);
  return string;
}

void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept {
  {
    const ScopedLock lock(names_lock);
    CategoryName* entry = names.categories;
    while (entry != nullptr && (entry->domain != domain || entry->category != category)) entry = entry->next;
    if (entry != nullptr && entry->name == name) return;
    if (entry == nullptr) {
      entry = names.arena.create<CategoryName>(domain, category, std::string_view(), names.categories);
      if (entry == nullptr) return;
      names.categories = entry;
    }
    entry->name = names.arena.copy(name);
  }
  tell_category(domain, category, name);
}

void name_thread(std::uint32_t thread_id, std::string_view name) noexcept {
  if (thread_id == system::thread_id()) own_thread_id = thread_id;
  {
    const ScopedLock lock(names_lock);
    ThreadName* entry = names.threads;
    while (entry != nullptr && entry->thread_id != thread_id) entry = entry->next;
    if (entry != nullptr && entry->name == name) return;
    if (entry == nullptr) {
      entry = names.arena.create<ThreadName>(thread_id, std::string_view(), names.threads);
      if (entry == nullptr) return;
      names.threads = entry;
    }
    entry->name = names.arena.copy(name);
  }
  tell_thread(thread_id, name);
}

void name_cuda_resource(CudaResource resource, std::uint32_t context, std::uint32_t id, std::string_view name) noexcept {
  CudaName told{};
  {
    const ScopedLock lock(names_lock);
    CudaName* entry = names.of_cuda;
    while (entry != nullptr && (entry->resource != resource || entry->context != context || entry->id != id)) entry = entry->next;
    if (entry != nullptr && entry->name == name) return;
    if (entry == nullptr) {
      entry = names.arena.create<CudaName>(resource, context, id, std::string_view(), names.of_cuda);
      if (entry == nullptr) return;
      names.of_cuda = entry;
    }
    entry->name = names.arena.copy(name);
    told = *entry;
  }
  tell_cuda_resource(told);
}

}  // namespace lanescope::agent::nvtx
