#include "collector/cpu/backtraces.h"

#include <chrono>
#include <unordered_map>

#include "code/address_spaces.h"
#include "code/code_names.h"
#include "code/modules.h"
#include "collector/python/sampler.h"
#include "model/file/last_path_part.h"
#include "observation/process_encoder.h"
#include "observation/python_locations.h"

namespace lanescope::cpu {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);  // between readings of the process's mappings

bool is_of_recorder(const Module* module) {
  if (module == nullptr) return false;
  const std::string_view name = last_path_part(module->path);
  return name.starts_with("liblanescope-") || name.starts_with("libcupti");
}

}  // namespace

struct CodeLibrary::Files {
  ModuleTable modules;
  AddressSpaces spaces{modules};
  CodeNames names{""};
};

CodeLibrary::CodeLibrary() : files_(std::make_unique<Files>()) {}
CodeLibrary::~CodeLibrary() = default;

struct Backtraces::State {
  State(pid_t pid, EmitChunk emit_chunk, std::shared_ptr<CodeLibrary> code_library, std::shared_ptr<const python::Sampler> sampler)
      : process(pid), code(std::move(code_library)), python(std::move(sampler)), encoder(0, std::move(emit_chunk)) {
    space = code->files_->spaces.first(process);
  }

  Place place_of(std::uint64_t address) {
    Place place = space.find(address);
    const auto now = std::chrono::steady_clock::now();
    if (place.module != nullptr || now < next_look) return place;
    next_look = now + kBetweenLooks;
    code->files_->spaces.add(process, space);
    return space.find(address);
  }

  std::uint32_t location_of(std::uint64_t address) {
    constexpr std::size_t kMaximumKnown = 500'000;
    if (locations.size() > kMaximumKnown) locations.clear();
    // A return address may be the start of the next function; the call is before it.
    const auto [found, inserted] = locations.try_emplace(address, 0);
    if (inserted) {
      const Place place = place_of(address - 1);
      found->second = is_of_recorder(place.module) ? 0 : encoder.location(place);
      if (place.module == nullptr) {
        const std::uint32_t location = found->second;
        locations.erase(found);  // will be looked up again
        return location;
      }
    }
    return found->second;
  }

  pid_t process;
  std::shared_ptr<CodeLibrary> code;
  std::shared_ptr<const python::Sampler> python;
  PythonLocations python_locations;
  std::vector<python::NativeCall> chain;  // of the current call, innermost first
  AddressSpace space;
  std::chrono::steady_clock::time_point next_look;
  std::unordered_map<std::uint64_t, std::uint32_t> locations;  // by address; 0 for code of the recorder itself
  ProcessEncoder encoder;
  std::size_t named = 0;  // number of the encoder's unnamed places that a search was begun for
};

Backtraces::Backtraces(pid_t process, EmitChunk emit, std::shared_ptr<CodeLibrary> code, std::shared_ptr<const python::Sampler> python)
    : state_(std::make_unique<State>(process, std::move(emit), std::move(code), std::move(python))) {}
Backtraces::~Backtraces() = default;

void Backtraces::add(std::uint32_t thread, proto::SampleOrigin origin, std::int64_t time, std::uint64_t duration, std::uint32_t correlation,
                     std::span<const std::uint64_t> addresses) {
  const python::Sampler* python = state_->python.get();
  std::vector<python::NativeCall>& chain = state_->chain;
  chain.clear();
  for (const std::uint64_t address : addresses) {
    const std::uint32_t location = address == 0 ? 0 : state_->location_of(address);
    if (location != 0) chain.push_back({location, python != nullptr && python->is_loop(state_->process, address - 1)});
  }
  const auto end = time + static_cast<std::int64_t>(duration);
  const std::shared_ptr<const python::Stack> stack = python == nullptr ? nullptr : python->within(state_->process, thread, time, end);
  const std::span<const python::PythonCall> functions = stack ? state_->python_locations.find(*stack, state_->encoder) : std::span<const python::PythonCall>();
  const std::vector<std::uint32_t> merged = python::merge_calls(chain, functions);
  std::uint32_t call = 0;
  for (auto location = merged.rbegin(); location != merged.rend(); ++location) call = state_->encoder.call(call, *location);
  state_->encoder.add_backtrace(thread, origin, time, duration, correlation, call);
}

void Backtraces::flush() { state_->encoder.flush(); }

struct NameSearch::State {
  struct Found {
    std::uint32_t location;
    std::vector<CodeName> names;
  };
  std::shared_ptr<CodeLibrary> code;
  CodeNames& names;
  std::vector<UnnamedCode> unnamed;
  std::vector<Found> found;
};

NameSearch::NameSearch(std::unique_ptr<State> state) : state_(std::move(state)) {}
NameSearch::~NameSearch() = default;

void NameSearch::run(const std::function<bool()>& go_on) {
  for (const UnnamedCode& code : state_->unnamed) {
    if (!go_on()) return;
    if (code.module == nullptr) continue;
    std::vector<CodeName> names = state_->names.find(*code.module, code.address, go_on);
    if (!names.empty()) state_->found.push_back({code.location, std::move(names)});
  }
}

std::unique_ptr<NameSearch> Backtraces::begin_search() {
  const std::vector<UnnamedCode>& all = state_->encoder.unnamed_code();
  if (state_->named == all.size()) return nullptr;
  auto search = std::unique_ptr<NameSearch::State>(
      new NameSearch::State{state_->code, state_->code->files_->names, {all.begin() + static_cast<std::ptrdiff_t>(state_->named), all.end()}, {}});
  state_->named = all.size();
  return std::unique_ptr<NameSearch>(new NameSearch(std::move(search)));
}

proto::Symbols Backtraces::names(const NameSearch& search) {
  proto::Symbols symbols;
  for (const NameSearch::State::Found& found : search.state_->found) {
    proto::LocationSymbol& symbol = *symbols.add_locations();
    symbol.set_location(found.location);
    for (const CodeName& name : found.names) {
      proto::FunctionAt& function = *symbol.add_functions();
      function.set_function(state_->encoder.string(name.function));
      function.set_source_file(state_->encoder.string(name.source_file));
      function.set_source_line(name.source_line);
    }
  }
  if (symbols.locations_size() > 0) symbols.set_first_string(state_->encoder.take_strings(*symbols.mutable_strings()));
  return symbols;
}

}  // namespace lanescope::cpu
