#include "code_namer.h"

#include <csignal>
#include <new>

#include "collector/channel/clock.h"

namespace lanescope::cpu {
namespace {

constexpr std::size_t kLocationsInMessage = 8192;
constexpr std::size_t kMostWaiting = 4096;  // processes

}  // namespace

CodeNamer::CodeNamer(const std::string& debug_folders, const Module* kernel, Outbox& outbox)
    : kernel_(kernel), outbox_(outbox), code_names_(debug_folders), thread_([this] { loop(); }) {}

CodeNamer::~CodeNamer() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CodeNamer::add(std::shared_ptr<ProcessRecord> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() < kMostWaiting) {
      tasks_.push_back({std::move(ended), true});
    } else {
      ++unnamed_;
      outbox_.put(ForgottenProcess{ended->description.key});
    }
  }
  changed_.notify_all();
}

void CodeNamer::name(const std::vector<std::shared_ptr<ProcessRecord>>& living, const std::atomic<bool>& stop) {
  constexpr std::chrono::milliseconds kLook(20);
  std::unique_lock lock(mutex_);
  for (const std::shared_ptr<ProcessRecord>& process : living) tasks_.push_back({process, false});
  changed_.notify_all();
  while (!tasks_.empty() || is_busy_) {
    skips_ = stop.load();
    changed_.wait_for(lock, kLook);
  }
  skips_ = false;
  const std::uint64_t unnamed = std::exchange(unnamed_, 0);
  lock.unlock();
  if (unnamed > 0) note("The code of " + std::to_string(unnamed) + " processes has no names: they ended faster than it could be looked up.");
}

void CodeNamer::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || !tasks_.empty(); });
    if (is_over_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    is_busy_ = true;
    lock.unlock();
    if (!skips_) name_as_far_as_memory_goes(*task.process);
    if (task.has_ended) outbox_.put(ForgottenProcess{task.process->description.key});
    task.process.reset();
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

void CodeNamer::name_as_far_as_memory_goes(ProcessRecord& process) {
  try {
    name(process, skips_);
  } catch (const std::bad_alloc&) {  // the memory for its names has been freed
    if (!std::exchange(has_noted_shortage_, true)) note("There was not enough memory to look up names of code: some of it has none.");
  }
}

void CodeNamer::name(ProcessRecord& process, const std::atomic<bool>& stop) {
  process.perf_map.refresh();
  if (process.perf_map.is_cut() && !std::exchange(has_noted_cut_, true))
    note("Process " + std::to_string(process.description.pid) +
         " names more code that it makes at run time (/tmp/perf-PID.map) than is taken in: some of it has no name.");
  proto::Symbols symbols;
  const auto emit = [&] {
    if (symbols.locations_size() == 0) return;
    symbols.set_first_string(process.encoder.take_strings(*symbols.mutable_strings()));
    outbox_.put(NamedCode{process.description.key, std::move(symbols)});
    symbols.Clear();
  };
  for (const UnnamedCode& code : process.encoder.unnamed_code()) {
    if (is_over_ || stop) break;
    const std::vector<CodeName> names = names_of(process, code);
    if (names.empty()) continue;
    proto::LocationSymbol& symbol = *symbols.add_locations();
    symbol.set_location(code.location);
    for (const CodeName& name : names) {
      proto::FunctionAt& function = *symbol.add_functions();
      function.set_function(process.encoder.string(name.function));
      function.set_source_file(process.encoder.string(name.source_file));
      function.set_source_line(name.source_line);
    }
    if (static_cast<std::size_t>(symbols.locations_size()) == kLocationsInMessage) emit();
  }
  emit();
  for (std::string& sentence : code_names_.take_notes()) note(std::move(sentence));
}

std::vector<CodeName> CodeNamer::names_of(ProcessRecord& process, const UnnamedCode& code) {
  if (code.module == nullptr || code.module->is_generated) {
    const std::string_view name = process.perf_map.find(code.address);
    return name.empty() ? std::vector<CodeName>() : std::vector<CodeName>{{std::string(name), {}, 0}};
  }
  if (code.module == kernel_) {
    const std::string_view name = kernel_names_.find(code.address);
    return name.empty() ? std::vector<CodeName>() : std::vector<CodeName>{{std::string(name), {}, 0}};
  }
  return code_names_.find(*code.module, code.address, [&] { return !is_over_ && !skips_; });
}

void CodeNamer::note(std::string text) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(channel::monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_CPU);
  diagnostic.set_state(proto::STATE_FAILED);
  diagnostic.set_text(std::move(text));
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  outbox_.put(std::move(diagnostic));
}

}  // namespace lanescope::cpu
