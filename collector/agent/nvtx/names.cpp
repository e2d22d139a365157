#include "agent/nvtx/names.h"

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "agent/channel/membership.h"
#include "agent/core/memory/arena.h"
#include "agent/core/system_calls.h"
#include "agent/nvtx/kept_names.h"
#include "agent/nvtx/payload.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"

namespace lanescope::agent::nvtx {
namespace {

constexpr std::size_t kMadeLimit = 64u << 20;  // bytes, for domains and registered strings
constexpr std::size_t kKeptLimit = 8u << 20;   // for each sort of other names
constexpr std::size_t kDomainBuckets = 4'096;
constexpr std::size_t kStringBuckets = 65'536;

struct CategoryKey {
  std::uint32_t domain = 0;
  std::uint32_t category = 0;
  bool operator==(const CategoryKey&) const = default;
};

struct CudaKey {
  CudaResource resource = CudaResource::kDevice;
  std::uint32_t context = 0;
  std::uint32_t id = 0;
  bool operator==(const CudaKey&) const = default;
};

// Stand for all domains and strings for which there is no room.
constinit Domain other_domain{.id = 0, .name = "(domains without room)"};
constinit RegisteredString other_string{.text = "(registered string without room)"};

struct Names {
  Arena made{kMadeLimit};
  Domain* newest = nullptr;
  std::array<Domain*, kDomainBuckets> domains_by_name{};
  std::array<Domain*, kDomainBuckets> domains_by_id{};
  std::array<RegisteredString*, kStringBuckets> strings{};
  KeptNames<CategoryKey> categories{kKeptLimit};
  KeptNames<std::uint32_t> threads{kKeptLimit};
  KeptNames<CudaKey> of_cuda{kKeptLimit};
  std::uint32_t forking_thread = 0;  // in a forked child: the id of its thread in the parent
  bool is_shortage_told = false;     // to this session
};
constinit Names names;
constinit Lock names_lock;
constinit thread_local std::uint32_t own_thread_id = 0;  // set by the thread that named itself last; tells a forked child which thread it was

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

void tell_cuda_resource(const CudaKey& key, std::string_view name) noexcept {
  channel::Record record{};
  const bool is_stream = key.resource == CudaResource::kStream;
  record.type = is_stream ? channel::RecordType::kStreamName : channel::RecordType::kCudaName;
  record.category = is_stream ? key.context : static_cast<std::uint32_t>(key.resource);
  record.id = key.id;
  write_metadata(record, name);
}

// Makes the object and its name in one piece; null if there is no room. Requires: the lock is held.
template <typename Made>
Made* make(std::string_view name, std::string_view Made::*member) noexcept {
  void* const memory = names.made.allocate(sizeof(Made) + name.size());
  if (memory == nullptr) return nullptr;
  Made* const made = ::new (memory) Made;
  auto* const text = static_cast<char*>(memory) + sizeof(Made);
  if (!name.empty()) std::memcpy(text, name.data(), name.size());
  made->*member = {text, name.size()};
  return made;
}

// Requires: the lock is held.
void add(Domain& domain) noexcept {
  domain.id = names.newest == nullptr ? 1 : names.newest->id + 1;
  domain.next = names.newest;
  names.newest = &domain;
  for (const auto& [bucket, next] : {std::pair(&names.domains_by_name[hash_of(domain.name) % kDomainBuckets], &Domain::next_of_name),
                                     std::pair(&names.domains_by_id[domain.id % kDomainBuckets], &Domain::next_of_id)}) {
    domain.*next = *bucket;
    *bucket = &domain;
  }
}

Domain* find_domain(std::string_view name) noexcept {
  Domain* known = names.domains_by_name[hash_of(name) % kDomainBuckets];
  while (known != nullptr && known->name != name) known = known->next_of_name;
  return known;
}

// Requires: the lock is not held.
void tell_shortage(const char* sentence) noexcept {
  {
    const ScopedLock lock(names_lock);
    if (std::exchange(names.is_shortage_told, true)) return;
  }
  report(Component::kNvtx, ComponentState::kFailed, Severity::kWarning, sentence);
}

// For another session, or in a forked child, which has only one of the parent's threads, under a new id.
void repeat() noexcept {
  repeat_schemas();
  const ScopedLock lock(names_lock);  // other threads of the program may be naming
  names.is_shortage_told = false;
  for (const Domain* domain = names.newest; domain != nullptr; domain = domain->next) tell_domain(*domain);
  names.categories.each([](const CategoryKey& key, std::string_view name) { tell_category(key.domain, key.category, name); });
  if (names.forking_thread == 0) {
    names.of_cuda.each(tell_cuda_resource);
    names.threads.each(tell_thread);
  } else if (const std::string_view name = names.threads.find(names.forking_thread); !name.empty()) {
    tell_thread(static_cast<std::uint32_t>(system::process_id()), name);
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
  bool is_new = true;
  {
    const ScopedLock lock(names_lock);
    if (Domain* const known = find_domain(name)) return known;
    domain = make(name, &Domain::name);
    if (domain == nullptr) {
      domain = &other_domain;
      is_new = domain->id == 0;
    }
    if (is_new) add(*domain);
  }
  if (is_new) tell_domain(*domain);
  if (domain == &other_domain)
    tell_shortage(
        "The program has made more NVTX domains than there is room for: events of further ones are shown in the domain \"(domains without room)\". Make a "
        "domain once, and name "
        "what differs by ranges or categories.");
  return domain;
}

std::string_view domain_name(std::uint32_t id) noexcept {
  const ScopedLock lock(names_lock);
  for (const Domain* domain = names.domains_by_id[id % kDomainBuckets]; domain != nullptr; domain = domain->next_of_id)
    if (domain->id == id) return domain->name;
  return {};
}

RegisteredString* register_string(std::string_view text) noexcept {
  const std::uint32_t hash = hash_of(text);
  {
    const ScopedLock lock(names_lock);
    RegisteredString*& bucket = names.strings[hash % kStringBuckets];
    for (RegisteredString* known = bucket; known != nullptr; known = known->next_in_bucket)
      if (known->hash == hash && known->text == text) return known;
    if (RegisteredString* const made = make(text, &RegisteredString::text)) {
      made->hash = hash;
      made->next_in_bucket = bucket;
      return bucket = made;
    }
  }
  tell_shortage(
      "The program has registered more different NVTX strings than there is room for: what further ones name is shown as \"(registered string without room)\". "
      "Register texts that come "
      "again, and pass others as they are.");
  return &other_string;
}

void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept {
  {
    const ScopedLock lock(names_lock);
    if (!names.categories.keep({domain, category}, name)) return;
  }
  tell_category(domain, category, name);
}

void name_thread(std::uint32_t thread_id, std::string_view name) noexcept {
  if (thread_id == system::thread_id()) own_thread_id = thread_id;
  {
    const ScopedLock lock(names_lock);
    if (!names.threads.keep(thread_id, name)) return;
  }
  tell_thread(thread_id, name);
}

void name_cuda_resource(CudaResource resource, std::uint32_t context, std::uint32_t id, std::string_view name) noexcept {
  const CudaKey key{resource, context, id};
  {
    const ScopedLock lock(names_lock);
    if (!names.of_cuda.keep(key, name)) return;
  }
  tell_cuda_resource(key, name);
}

}  // namespace lanescope::agent::nvtx
