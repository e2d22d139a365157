#include "agent/cupti/library/library_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/core/loader/loader.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent::cupti {
namespace {

#if defined(__aarch64__)
constexpr ElfW(Half) kMachine = EM_AARCH64;
#else
constexpr ElfW(Half) kMachine = EM_X86_64;
#endif

constexpr std::size_t kMostSegments = 64;
constexpr std::size_t kMostDynamic = 256;
constexpr std::size_t kMostSections = 65'536;

// An open file of known size.
class File {
 public:
  explicit File(const char* path) noexcept : descriptor_(system::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ >= 0 && system::file_status(descriptor_, status) && S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~File() {
    if (descriptor_ >= 0) system::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t bytes) const noexcept { return offset <= size_ && bytes <= size_ - offset; }
  [[nodiscard]] bool read(std::uint64_t offset, void* to, std::size_t bytes) const noexcept {
    return holds(offset, bytes) && system::read_at(descriptor_, to, bytes, static_cast<std::int64_t>(offset)) == static_cast<long>(bytes);
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

struct Segments {
  ElfW(Phdr) entries[kMostSegments];
  std::size_t count;

  // True if this many bytes from this address on come from the file.
  [[nodiscard]] bool hold(std::uint64_t address, std::uint64_t bytes) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Phdr)& part = entries[i];
      if (part.p_type != PT_LOAD || address < part.p_vaddr || address - part.p_vaddr > part.p_filesz) continue;
      if (bytes <= part.p_filesz - (address - part.p_vaddr)) return true;
    }
    return false;
  }
};

bool is_library(const ElfW(Ehdr) & header) noexcept {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_type == ET_DYN && header.e_machine == kMachine && header.e_phentsize == sizeof(ElfW(Phdr)) && header.e_phnum > 0 &&
         header.e_phnum <= kMostSegments;
}

bool segments_are_whole(const File& file, const Segments& segments) noexcept {
  for (std::size_t i = 0; i < segments.count; ++i) {
    const ElfW(Phdr)& part = segments.entries[i];
    if (part.p_type == PT_LOAD && (part.p_filesz > part.p_memsz || part.p_vaddr + part.p_memsz < part.p_vaddr)) return false;
    if (part.p_type != PT_GNU_STACK && !file.holds(part.p_offset, part.p_filesz)) return false;
  }
  return true;
}

// Sections that the program does not need are at the end, so they are cut off first.
bool sections_are_whole(const File& file, const ElfW(Ehdr) & header) noexcept {
  if (header.e_shoff == 0) return true;
  if (header.e_shentsize != sizeof(ElfW(Shdr)) || header.e_shnum > kMostSections) return false;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section;
    if (!file.read(header.e_shoff + i * sizeof(section), &section, sizeof(section))) return false;
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && !file.holds(section.sh_offset, section.sh_size)) return false;
  }
  return true;
}

bool dynamic_is_sound(const File& file, const Segments& segments, const ElfW(Phdr) & part) noexcept {
  ElfW(Dyn) entries[kMostDynamic];
  const std::size_t count = part.p_filesz / sizeof(ElfW(Dyn));
  if (count == 0 || count > kMostDynamic || !file.read(part.p_offset, entries, count * sizeof(ElfW(Dyn)))) return false;
  const auto value = [&](ElfW(Sxword) tag) -> std::uint64_t {
    for (std::size_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i)
      if (entries[i].d_tag == tag) return entries[i].d_un.d_val;
    return 0;
  };
  bool has_end = false;
  for (std::size_t i = 0; i < count; ++i) has_end = has_end || entries[i].d_tag == DT_NULL;
  const auto lies_within = [&](ElfW(Sxword) place, ElfW(Sxword) bytes) {
    return value(place) == 0 || segments.hold(value(place), bytes == DT_NULL ? 1 : value(bytes));
  };
  return has_end && value(DT_SYMTAB) != 0 && value(DT_STRTAB) != 0 && lies_within(DT_STRTAB, DT_STRSZ) && lies_within(DT_SYMTAB, DT_SYMENT) &&
         lies_within(DT_RELA, DT_RELASZ) && lies_within(DT_JMPREL, DT_PLTRELSZ) && lies_within(DT_INIT_ARRAY, DT_INIT_ARRAYSZ) &&
         lies_within(DT_GNU_HASH, DT_NULL) && lies_within(DT_HASH, DT_NULL) && lies_within(DT_VERSYM, DT_NULL) && lies_within(DT_VERNEED, DT_NULL) &&
         lies_within(DT_INIT, DT_NULL);
}

bool is_whole(const File& file) noexcept {
  ElfW(Ehdr) header;
  Segments segments{};
  if (!file.read(0, &header, sizeof(header)) || !is_library(header)) return false;
  segments.count = header.e_phnum;
  if (!file.read(header.e_phoff, segments.entries, segments.count * sizeof(ElfW(Phdr)))) return false;
  if (!segments_are_whole(file, segments) || !sections_are_whole(file, header)) return false;
  for (std::size_t i = 0; i < segments.count; ++i)
    if (segments.entries[i].p_type == PT_DYNAMIC) return dynamic_is_sound(file, segments, segments.entries[i]);
  return false;
}

// ---- Where a name leads -------------------------------------------------------------------------------------------------------------

class Search {
 public:
  Search(const char* file_name, char* path, std::size_t path_bytes) noexcept : name(file_name), path_(path), path_bytes_(path_bytes) {}

  // Returns true if the file is whole, which ends the search.
  bool consider(const char* candidate) noexcept {
    if (std::strlen(candidate) >= path_bytes_) return false;
    const FileState seen = check_library_file(candidate);
    if (seen == FileState::kAbsent || (seen == FileState::kDamaged && state != FileState::kAbsent)) return false;
    state = seen;
    std::strcpy(path_, candidate);
    return seen == FileState::kWhole;
  }

  const char* const name;
  FileState state = FileState::kAbsent;

 private:
  char* path_;
  std::size_t path_bytes_;
};

bool find_in_folders(Search& search) noexcept {
  alignas(Dl_serinfo) char memory[16u << 10];
  auto* const folders = reinterpret_cast<Dl_serinfo*>(memory);
  void* const program = load_file(nullptr, RTLD_LAZY);
  bool found = false;
  if (program != nullptr && dlinfo(program, RTLD_DI_SERINFOSIZE, folders) == 0 && folders->dls_size <= sizeof(memory) &&
      dlinfo(program, RTLD_DI_SERINFO, folders) == 0)
    for (unsigned i = 0; !found && i < folders->dls_cnt; ++i) {
      char candidate[4096];
      const int length = std::snprintf(candidate, sizeof(candidate), "%s/%s", folders->dls_serpath[i].dls_name, search.name);
      found = length > 0 && static_cast<std::size_t>(length) < sizeof(candidate) && search.consider(candidate);
    }
  if (program != nullptr) dlclose(program);
  return found;
}

// The file that ldconfig writes, in the format of glibc's dl-cache.h since 2.2; an older format may precede it.
struct CacheHeader {
  char magic[20];
  std::uint32_t count;
  std::uint32_t text_bytes;
  std::uint32_t unused[5];
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t name;  // both relative to the beginning of the header
  std::uint32_t path;
  std::uint32_t unused[3];
};
constexpr char kCacheMagic[] = "glibc-ld.so.cache1.1";

bool find_in_cache(const char* cache, std::size_t size, Search& search) noexcept {
  const auto* const begin = static_cast<const char*>(memmem(cache, size, kCacheMagic, sizeof(kCacheMagic) - 1));
  if (begin == nullptr) return false;
  const auto left = static_cast<std::size_t>(cache + size - begin);
  CacheHeader header;
  if (left < sizeof(header)) return false;
  std::memcpy(&header, begin, sizeof(header));
  if (header.count > (left - sizeof(header)) / sizeof(CacheEntry)) return false;
  const auto text = [&](std::uint32_t offset) { return offset < left && memchr(begin + offset, 0, left - offset) != nullptr; };
  for (std::uint32_t i = 0; i < header.count; ++i) {
    CacheEntry entry;
    std::memcpy(&entry, begin + sizeof(header) + i * sizeof(entry), sizeof(entry));
    if (!text(entry.name) || !text(entry.path) || std::strcmp(begin + entry.name, search.name) != 0) continue;
    if (search.consider(begin + entry.path)) return true;
  }
  return false;
}

bool find_in_cache(Search& search) noexcept {
  const int descriptor = system::open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status {};
  const auto size = system::file_status(descriptor, status) ? static_cast<std::size_t>(status.st_size) : 0;
  void* const cache = size == 0 ? nullptr : system::map(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor);
  system::close(descriptor);
  if (cache == nullptr) return false;
  const bool found = find_in_cache(static_cast<const char*>(cache), size, search);
  system::unmap(cache, size);
  return found;
}

}  // namespace

FileState check_library_file(const char* path) noexcept {
  const File file(path);
  return !file.is_open() ? FileState::kAbsent : is_whole(file) ? FileState::kWhole : FileState::kDamaged;
}

FileState find_library_file(const char* name, char* path, std::size_t path_bytes) noexcept {
  Search search(name, path, path_bytes);
  if (!find_in_folders(search)) find_in_cache(search);
  return search.state;
}

}  // namespace lanescope::agent::cupti
