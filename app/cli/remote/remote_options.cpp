#include "remote/remote_options.h"

#include <algorithm>
#include <array>

namespace lanescope::cli {
namespace {

constexpr const char* kGroup = "Another machine";
constexpr std::array<std::string_view, 5> kRemote{"on", "remote-lanescope", "remote-folder", "copy-recorder", "one-of-several"};

std::string name_of(const CLI::Option& option) { return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front(); }

// The values of one option. Lists are in one value, as they are typed.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::vector<std::string>& results = option.results();
  if (option.get_items_expected_max() == 0) return {results.back()};
  if (option.get_delimiter() == '\0') return results;
  std::string list;
  for (const std::string& result : results) list += (list.empty() ? "" : std::string(1, option.get_delimiter())) + result;
  return {list};
}

}  // namespace

void describe_remote(CLI::App& app, RemoteOptions& options, StartsProgram starts) {
  constexpr const char* kTargets = "Do it there: ssh:HOST, docker:CONTAINER, podman:CONTAINER,\nk8s:NAMESPACE/POD/CONTAINER, slurm:JOB/NODE or command:PREFIX";
  const auto take = [&options](const std::vector<std::string>& targets) {
    options.target = targets.front();
    options.targets = targets;
  };
  CLI::Option* const on = starts == StartsProgram::kNo
                              ? app.add_option("--on", options.target, kTargets)
                              : app.add_option_function<std::vector<std::string>>(
                                       "--on", take, std::string(kTargets) + ";\nseveral times: on several machines at once, a file of each")
                                    ->expected(1)
                                    ->take_all();
  on->type_name("TARGET")->group(kGroup);
  app.add_option("--remote-lanescope", options.lanescope, "The program there")->type_name("PATH")->default_str("lanescope")->needs(on)->group(kGroup);
  app.add_flag("--copy-recorder", options.copies_recorder, "Use a copy of this lanescope there, in ~/.cache/lanescope/recorders;\nit is made if there is none")
      ->needs(on)
      ->group(kGroup);
  if (starts == StartsProgram::kYes)
    app.add_option("--remote-folder", options.folder, "There, in which the program runs")
        ->type_name("FOLDER")
        ->default_str("where commands begin there")
        ->needs(on)
        ->group(kGroup);
  if (starts == StartsProgram::kYes) app.add_flag("--one-of-several", options.is_one_of_several)->needs(on)->group("");  // no user types it
}

Arguments options_for_there(const CLI::App& app, std::span<const std::string_view> kept_here) {
  Arguments arguments;
  for (const CLI::Option* option : app.get_options()) {
    const auto is_kept = [option](std::string_view name) { return !option->get_lnames().empty() && option->get_lnames().front() == name; };
    // Options without a group are not recorded, which is said here, or are used between programs.
    if (option->get_positional() || option->get_group().empty() || option->count() == 0 || option->results().empty() || option == app.get_help_ptr()) continue;
    if (std::any_of(kRemote.begin(), kRemote.end(), is_kept) || std::any_of(kept_here.begin(), kept_here.end(), is_kept)) continue;
    for (const std::string& value : values_of(*option)) {
      const std::string name = name_of(*option);
      if (value.empty() || !name.starts_with("--"))
        arguments.insert(arguments.end(), {name, value});
      else
        arguments.push_back(name + "=" + value);
    }
  }
  return arguments;
}

std::optional<SplitOptions> split_remote(const CLI::App& app, const Arguments& options) {
  if (app.get_option_no_throw("--on") == nullptr) return std::nullopt;
  CLI::App own;
  SplitOptions split;
  describe_remote(own, split.remote, StartsProgram::kYes);
  own.set_help_flag();
  own.allow_extras();
  try {
    own.parse(Arguments(options.rbegin(), options.rend()));  // CLI11 takes them in this order
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  if (split.remote.target.empty()) return std::nullopt;
  split.others = own.remaining();
  return split;
}

}  // namespace lanescope::cli
