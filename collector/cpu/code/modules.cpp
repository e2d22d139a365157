#include "modules.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "collector/attach/elf_headers.h"
#include "collector/attach/memory_map.h"

namespace lanescope::cpu {
namespace {

constexpr std::uint64_t kMaximumNotes = 64 * 1024;

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string build_id_in(const std::vector<unsigned char>& notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    const std::size_t name = at + sizeof(note);
    const std::size_t content = name + padded(note.n_namesz);
    const std::size_t next = content + padded(note.n_descsz);
    if (next > notes.size() || next <= at) return {};
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return hexadecimal(notes.data() + content, note.n_descsz);
    at = next;
  }
  return {};
}

ElfFacts read_elf_facts(std::istream& file) {
  ElfFacts facts;
  const std::optional<attach::ElfHeaders> headers = attach::read_elf_headers(file);
  if (!headers) return facts;
  for (const Elf64_Phdr& part : headers->segments) {
    if (part.p_type == PT_LOAD) facts.segments.push_back({part.p_offset, part.p_filesz, part.p_vaddr});
    if (part.p_type != PT_NOTE || part.p_filesz > kMaximumNotes || !facts.build_id.empty()) continue;
    std::vector<unsigned char> notes(part.p_filesz);
    file.clear();
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    if (file.read(reinterpret_cast<char*>(notes.data()), static_cast<std::streamsize>(notes.size()))) facts.build_id = build_id_in(notes);
  }
  return facts;
}

// True for memory in which a program may write code: its name is empty, in brackets, or that of a special file.
bool names_no_file(std::string_view path) {
  return path.empty() || path.front() == '[' || path.starts_with("//anon") || path.starts_with("/memfd:") || path.starts_with("/dev/") ||
         path.starts_with("/SYSV") || path.starts_with("anon_inode:");
}

// Takes the segments and the build id from the file, if it has them. Returns false if not.
bool use_file(Module& module, pid_t seen_by, const std::optional<attach::ForeignFile>& file) {
  if (!file) return false;
  ElfFacts facts = cpu::read_elf_facts(file->path());
  if (facts.segments.empty()) return false;
  module.seen_by = seen_by;
  module.device = file->facts.st_dev;
  module.inode = file->facts.st_ino;
  module.segments = std::move(facts.segments);
  module.build_id = std::move(facts.build_id);
  return true;
}

}  // namespace

std::optional<attach::ForeignFile> Module::open() const {
  if (inode == 0) return std::nullopt;
  std::optional<attach::ForeignFile> file = seen_by == 0 ? attach::open_file(path) : attach::open_file_of(seen_by, path);
  if (file && (file->facts.st_dev != device || file->facts.st_ino != inode)) file.reset();
  return file;
}

std::uint64_t Module::address_of(std::uint64_t offset) const noexcept {
  for (const Segment& segment : segments)
    if (offset >= segment.offset && offset - segment.offset < segment.size) return offset - segment.offset + segment.address;
  return offset;
}

ElfFacts read_elf_facts(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return read_elf_facts(file);
}

ModuleTable::ModuleTable() {
  auto kernel = std::make_unique<Module>();
  kernel->path = "[kernel]";
  kernel_ = (modules_[{kernel->path, 0}] = std::move(kernel)).get();
}

const Module* ModuleTable::find(std::string_view path, std::uint64_t inode, pid_t process) {
  constexpr std::size_t kMostModules = 100'000;
  const auto known = modules_.find({std::string(path), inode});
  if (known != modules_.end()) return known->second.get();
  if (modules_.size() >= kMostModules) return further_.get();
  std::unique_ptr<Module>& module = modules_[{std::string(path), inode}];
  module = std::make_unique<Module>();
  module->path = path;
  if (path == "[vdso]") {
    // The kernel maps the same vdso into every process. It has no file, and is read from our own memory.
    module->segments.push_back({0, ~std::uint64_t{0}, 0});
    return module.get();
  }
  module->is_generated = names_no_file(path);
  if (module->is_generated) return module.get();
  // Opened through the process if it sees other files than we do (in a container), which works only while the process lives.
  const std::optional<attach::ForeignFile> ours = attach::open_file(module->path);
  const bool same_file = inode != 0 && ours && ours->facts.st_ino == inode;
  if (same_file || !use_file(*module, process, attach::open_file_of(process, module->path))) use_file(*module, 0, ours);
  return module.get();
}

void AddressSpace::map(std::uint64_t start, std::uint64_t length, std::uint64_t offset, const Module* module) {
  if (module->path == "[vdso]") offset = 0;
  const std::uint64_t end = start + length;
  auto at = mappings_.lower_bound(start);
  if (at != mappings_.begin() && std::prev(at)->second.end > start) --at;
  while (at != mappings_.end() && at->first < end) {  // the new mapping replaces the old ones in its range
    const std::uint64_t before_start = at->first;
    const Mapping before = at->second;
    at = mappings_.erase(at);
    if (before_start < start) mappings_[before_start] = {start, before.offset, before.module};
    if (before.end > end) at = mappings_.insert_or_assign(end, Mapping{before.end, before.offset + (end - before_start), before.module}).first;
  }
  mappings_[start] = {end, offset, module};
}

Place AddressSpace::find(std::uint64_t address) const {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return {nullptr, address};
  --at;
  if (address >= at->second.end) return {nullptr, address};
  if (at->second.module->is_generated) return {at->second.module, address};
  return {at->second.module, at->second.module->address_of(address - at->first + at->second.offset)};
}

std::chrono::nanoseconds AddressSpace::read(pid_t process, ModuleTable& modules) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<std::vector<attach::Mapping>> listed = attach::read_memory_map(process, attach::Mappings::kExecutable);
  const auto took = std::chrono::steady_clock::now() - begin;
  for (attach::Mapping& mapping : listed.value_or(std::vector<attach::Mapping>())) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (mapping.path.ends_with(kDeleted)) mapping.path.resize(mapping.path.size() - kDeleted.size());
    if (mapping.end > mapping.begin) map(mapping.begin, mapping.end - mapping.begin, mapping.offset, modules.find(mapping.path, mapping.inode, process));
  }
  return took;
}

}  // namespace lanescope::cpu
