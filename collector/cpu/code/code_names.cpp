#include "code_names.h"

#include <unistd.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "code_names/messages.h"
#include "code_names/reader.h"
#include "own_vdso.h"

namespace lanescope::cpu {
namespace {

using code_names::Reader;
using code_names::RequestKind;

constexpr std::uint64_t kEnoughMemory = 512u << 20;  // above that the reader is restarted between files
constexpr int kMostFailures = 3;                     // for one file
constexpr int kMostFailuresInAll = 30;               // of all files together
constexpr std::size_t kMostKnown = 500'000;          // places whose names are kept

}  // namespace

struct CodeNames::File {
  std::uint32_t number = 0;
  std::string_view as;          // the rights with which it is read; empty if it can't be read
  std::uint64_t opened_by = 0;  // number of the reader that has it open
  int failures = 0;
  std::unordered_map<std::uint64_t, std::vector<CodeName>> known;  // by address
};

struct CodeNames::State {
  struct Running {
    std::unique_ptr<Reader> reader;
    std::uint64_t number = 0;
    std::optional<std::pair<const Module*, File*>> awaited = {};  // file of the request whose answer nobody waited for
  };
  std::string debug_folders;
  std::map<const Module*, File> files;
  std::map<std::string_view, Running> readers;  // by their rights
  std::uint64_t started = 0;
  std::size_t known = 0;  // places that were asked for, at least as many as are remembered
  int failures = 0;
  bool can_start = true;
  std::vector<std::string> notes;

  // Null if there is no reader.
  Running* reader(std::string_view as) {
    Running& running = readers[as];
    if (running.reader == nullptr && can_start) {
      running = {Reader::start(as, debug_folders), ++started};
      can_start = running.reader != nullptr;
      if (!can_start && have_code_names())
        notes.push_back("Code has no names: " + code_names::program_path() + " can't be started. Install Lanescope whole, or set LANESCOPE_CODE_NAMES to it.");
    }
    return running.reader == nullptr ? nullptr : &running;
  }

  void note_failure(const Module& module, File& file, Running& running) {
    running = {};
    ++file.failures;
    if (file.failures == kMostFailures) notes.push_back("Some code of " + module.path + " has no names: to find them out took too much time or memory.");
    if (++failures == kMostFailuresInAll) notes.push_back("No more code is named: too many files took too much time or memory.");
  }

  // Returns the answer; nothing if there is none, or if it is not waited for.
  std::optional<std::vector<std::byte>> answered(Reader::Answer answer, const Module& module, File& file, Running& running) {
    if (answer.reply == Reader::Reply::kAwaited) running.awaited = {&module, &file};
    if (answer.reply == Reader::Reply::kFailed) note_failure(module, file, running);
    return answer.reply == Reader::Reply::kCame ? std::optional(std::move(answer.bytes)) : std::nullopt;
  }

  // The reader for this file, which has answered all that it was asked. Null if there is none, or if it still works.
  Running* idle_reader(const File& file, const std::function<bool()>& goes_on) {
    Running* running = reader(file.as);
    if (running != nullptr && running->awaited) {
      const auto [module, other] = *std::exchange(running->awaited, std::nullopt);
      static_cast<void>(answered(running->reader->await(goes_on), *module, *other, *running));
      if (running->awaited) return nullptr;
      running = reader(file.as);
    }
    if (running == nullptr || file.opened_by == running->number || running->reader->own_memory() <= kEnoughMemory) return running;
    running->reader.reset();
    return reader(file.as);
  }

  std::optional<std::vector<std::byte>> ask(const Module& module, File& file, std::uint64_t address, const std::function<bool()>& goes_on) {
    Running* running = idle_reader(file, goes_on);
    if (running == nullptr) return std::nullopt;
    if (file.opened_by != running->number) {
      const std::optional<attach::ForeignFile> there = module.path == "[vdso]" ? std::nullopt : module.open();
      const FileDescriptor vdso = module.path == "[vdso]" ? own_vdso() : FileDescriptor();
      const int descriptor = there ? there->descriptor.get() : vdso.get();
      if (descriptor < 0) return std::nullopt;
      const std::string_view path = std::string_view(module.path).substr(0, code_names::kMaximumPath);
      file.opened_by = running->number;
      if (!answered(running->reader->ask({RequestKind::kOpen, file.number, 0}, path, descriptor, goes_on), module, file, *running)) return std::nullopt;
    }
    return answered(running->reader->ask({RequestKind::kFind, file.number, address}, {}, -1, goes_on), module, file, *running);
  }

  static std::string_view rights_for(const Module& module) {
    if (geteuid() != 0 || module.path == "[vdso]") return code_names::kAsItIs;
    const std::optional<attach::ForeignFile> file = module.open();
    if (!file) return {};
    return module.seen_by == 0 && code_names::is_roots_own(file->facts) ? code_names::kAsItIs : code_names::kAsNobody;
  }
};

CodeNames::CodeNames(const std::string& debug_folders) : state_(std::make_unique<State>()) { state_->debug_folders = debug_folders; }
CodeNames::~CodeNames() = default;

std::vector<CodeName> CodeNames::find(const Module& module, std::uint64_t address, const std::function<bool()>& goes_on) {
  const auto [entry, is_new] = state_->files.try_emplace(&module);
  File& file = entry->second;
  if (is_new) {
    file.number = static_cast<std::uint32_t>(state_->files.size());
    file.as = State::rights_for(module);
  }
  if (++state_->known > kMostKnown) {
    for (auto& [each, one] : state_->files) one.known.clear();
    state_->known = 0;
  }
  const auto [known, is_asked] = file.known.try_emplace(address);
  if (!is_asked) return known->second;
  if (file.as.empty() || file.failures >= kMostFailures || state_->failures >= kMostFailuresInAll) return {};
  const std::optional<std::vector<std::byte>> answer = state_->ask(module, file, address, goes_on);
  if (answer) known->second = code_names::unpacked(*answer).value_or(std::vector<CodeName>());
  std::vector<CodeName> names = known->second;
  if (!answer && !goes_on()) file.known.erase(known);
  return names;
}

std::vector<std::string> CodeNames::take_notes() { return std::exchange(state_->notes, {}); }

bool have_code_names() noexcept { return LANESCOPE_HAVE_CODE_NAMES; }

}  // namespace lanescope::cpu
