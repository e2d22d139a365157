#include <algorithm>
#include <array>
#include <iostream>
#include <numeric>

#include "checks.h"
#include "command.h"
#include "help.h"
#include "options/foreign_options.h"
#include "options/launch_options.h"
#include "remote/remote_work.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// The names of options that help lists: an option without a group records nothing.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

const CLI::Option* find_option(const CLI::App& app, std::string_view argument);

bool is_of_launch(std::string_view argument) {
  CLI::App launch;
  LaunchOptions ignored;
  describe_launch(launch, ignored);
  return find_option(launch, argument) != nullptr;
}

Error unknown_option(const CLI::App& app, std::string_view argument, std::string_view of_launch = {}) {
  const std::string name(argument.substr(0, argument.find('=')));
  if (!of_launch.empty() && is_of_launch(argument)) return {"There is no option " + name + " here. " + std::string(of_launch), ErrorKind::kUsage};
  if (const auto advice = foreign_option_advice(name)) return {"There is no option " + name + ". " + *advice, ErrorKind::kUsage};
  const std::string suggestion = nearest(name, option_names(app));
  if (!suggestion.empty()) return {"Unknown option " + name + ". Did you mean " + suggestion + "?", ErrorKind::kUsage};
  return {"Unknown option " + name + ". See: " + app.get_name() + " --help", ErrorKind::kUsage};
}

// The option that an argument such as "--output=x", "--output", "-o" or "-ox" names, else null.
const CLI::Option* find_option(const CLI::App& app, std::string_view argument) {
  const bool is_long = argument.starts_with("--");
  const std::string name(is_long ? argument.substr(2, argument.find('=') - 2) : argument.substr(1, 1));
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& names = is_long ? option->get_lnames() : option->get_snames();
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

// Also accepts the values that Python prints.
bool is_truth_value(const std::string& text) {
  const std::string word = in_small_letters(text);
  return word == "true" || word == "false";
}

std::string long_form(const CLI::Option& option, std::string_view value) { return "--" + option.get_lnames().front() + "=" + std::string(value); }

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The option's value if it is part of the argument itself: "--output=x", "-ox" or "-o=x".
std::optional<std::string> own_value(std::string_view argument) {
  const std::size_t begin = argument.starts_with("--") ? argument.find('=') : argument.size() > 2 ? 1 : std::string_view::npos;
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view value = argument.substr(begin + 1);
  return std::string(!argument.starts_with("--") && value.starts_with('=') ? value.substr(1) : value);
}

// Adds the option that starts at `argument` to `options`, in the form that CLI11 takes. An option of nsys's that asks for what is done here anyway is left
// out. Returns the number of arguments that the option takes; 0 if there is no such option.
std::ptrdiff_t take_option(const CLI::App& app, Arguments::const_iterator argument, Arguments::const_iterator end, Arguments& options) {
  const CLI::Option* option = find_option(app, *argument);
  const auto value = std::next(argument);
  if (option == nullptr) {
    const std::size_t equals = argument->find('=');
    if (equals != std::string::npos) return foreign_option_is_granted(argument->substr(0, equals), std::string_view(*argument).substr(equals + 1)) ? 1 : 0;
    if (value != end && foreign_option_is_granted(*argument, *value)) return 2;
    return foreign_option_is_granted(*argument, "") ? 1 : 0;
  }
  if (const std::optional<std::string> own = own_value(*argument)) {
    const bool is_attached = !argument->starts_with("--") && (*argument)[2] != '=';
    if (is_flag(*option) && is_attached && !is_truth_value(*own)) {  // -fo NAME: several in one word
      options.push_back(argument->substr(0, 2));
      Arguments others{"-" + *own};
      if (value != end) others.push_back(*value);
      return take_option(app, others.begin(), others.end(), options);
    }
    if (is_flag(*option))
      options.push_back(long_form(*option, in_small_letters(*own)));
    else if (argument->starts_with("--"))
      options.push_back(long_form(*option, *own));
    else
      options.insert(options.end(), {argument->substr(0, 2), *own});
    return 1;
  }
  if (value == end || (is_flag(*option) && !is_truth_value(*value))) {
    options.push_back(*argument);
    return 1;
  }
  if (is_flag(*option))
    options.push_back(long_form(*option, in_small_letters(*value)));
  else
    options.insert(options.end(), {*argument, *value});
  return 2;
}

// What is wrong with the form of options as take_option() leaves them: an option is unknown, its value is missing, or it is a flag whose value is invalid.
std::optional<Error> wrong_form(CLI::App& app, const Arguments& options, std::string_view of_launch) {
  for (auto argument = options.begin(); argument != options.end() && *argument != "--"; ++argument) {
    if (!argument->starts_with('-') || argument->size() == 1) continue;
    const CLI::Option* option = find_option(app, *argument);
    if (option == nullptr) return unknown_option(app, *argument, of_launch);
    if (option == app.get_help_ptr()) continue;
    std::optional<std::string> value = argument->starts_with("--") ? own_value(*argument) : std::nullopt;
    const std::string name = argument->substr(0, argument->find('='));
    if (!is_flag(*option)) {
      const bool needs_one = option->get_items_expected_min() > 0;
      // An empty word counts as missing, too: it comes from a variable that is not set.
      const bool has_none = value ? value->empty() : std::next(argument) == options.end() || std::next(argument)->empty();
      if (has_none && needs_one) return Error{name + " needs a value. See: " + app.get_name() + " --help", ErrorKind::kUsage};
      if (!value && !has_none) ++argument;
      continue;
    }
    if (!value) continue;
    try {
      (*app.get_option("--" + option->get_lnames().front())->get_validator(0))(*value);  // the validator may know words of its own
    } catch (const CLI::OptionNotFound&) {
    }
    constexpr std::array kTruths{"true", "false", "1", "0", "yes", "no", "on", "off"};
    if (std::find(kTruths.begin(), kTruths.end(), *value) == kTruths.end())
      return Error{name + " takes true or false, not \"" + *value + "\".", ErrorKind::kUsage};
  }
  return std::nullopt;
}

// For a command that runs no program: operands may stand before and after options.
Arguments as_taken(const CLI::App& app, const Arguments& arguments) {
  Arguments taken;
  const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
  for (auto argument = arguments.begin(); argument != arguments.end();) {
    const bool is_option = argument->starts_with('-') && argument->size() > 1 && argument < end_of_options;
    const std::ptrdiff_t count = is_option ? take_option(app, argument, arguments.end(), taken) : 0;
    if (count == 0) taken.push_back(*argument);
    argument += std::max<std::ptrdiff_t>(count, 1);
  }
  return taken;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {  // Levenshtein, with swapped neighbours as one edit
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  std::iota(cost[0].begin(), cost[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

bool is_joint(char letter) { return letter == '-' || letter == '_'; }

std::string without_joints(std::string_view word) {
  std::string letters(word);
  std::erase_if(letters, is_joint);
  return letters;
}

// Among the candidates in which a word starts with `word`, ignoring joints: the first that starts with it itself, else the shortest. Empty if there is none.
std::string candidate_with(std::string_view word, std::span<const std::string> candidates) {
  const std::string letters = without_joints(word);
  if (letters.size() < 3) return {};
  std::string best;
  for (const std::string& candidate : candidates) {
    for (std::size_t place = 0; place < candidate.size(); ++place) {
      const bool begins_word = !is_joint(candidate[place]) && (place == 0 || is_joint(candidate[place - 1]));
      if (!begins_word || !without_joints(std::string_view(candidate).substr(place)).starts_with(letters)) continue;
      const bool is_first_word = without_joints(std::string_view(candidate).substr(0, place)).empty();
      if (is_first_word) return candidate;
      if (best.empty() || candidate.size() < best.size()) best = candidate;
    }
  }
  return best;
}

// CLI11's messages do not name options that no help shows: ": "true" is none of a, b". This adds the name of the first such option that was typed.
std::string with_name(const CLI::App& app, const Arguments& typed, std::string problem) {
  if (!problem.starts_with(": ")) return problem;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (option->get_group().empty() &&
          std::any_of(typed.begin(), typed.end(), [&](const std::string& word) { return word.substr(0, word.find('=')) == "--" + name; }))
        return "--" + name + problem;
  return problem.substr(2);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = without_joints(word).size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? candidate_with(word, candidates) : best;
}

Result<void> read_options(CLI::App& app, Arguments arguments, std::string_view of_launch) {
  app.allow_extras();
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Show this help")->group("Help");
  arguments = as_taken(app, arguments);
  if (std::optional<Error> wrong = wrong_form(app, arguments, of_launch)) return std::move(*wrong);
  Arguments from_the_back(arguments.rbegin(), arguments.rend());  // CLI11 takes them in this order
  try {
    app.parse(from_the_back);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    const std::string problem = with_name(app, arguments, error.what());
    if (const std::size_t name_end = problem.find(": At Most 1 required but received"); name_end != std::string::npos)
      return Error{problem.substr(0, name_end) + " is given more than once. Give it once.", ErrorKind::kUsage};
    return Error{problem.ends_with('?') ? problem : problem + ". See: " + app.get_name() + " --help", ErrorKind::kUsage};
  }
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;
    if (extra.starts_with('-')) return unknown_option(app, extra, of_launch);
    return Error{"Unexpected argument " + extra + ". See: " + app.get_name() + " --help", ErrorKind::kUsage};
  }
  return {};
}

std::optional<int> parse(CLI::App& app, Arguments arguments, std::string_view of_launch) {
  try {
    if (const Result<void> read = read_options(app, arguments, of_launch); !read) return fail(read.error());
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return kSuccess;
  } catch (const ValuesAsked& asked) {
    if (const std::optional<int> code = ask_values_there(app, as_taken(app, arguments))) return code;
    const Result<std::string> text = asked.text();
    if (!text) return fail(text.error());
    std::cout << *text;
    return kSuccess;
  } catch (const CLI::Success&) {  // an option that answers by itself, such as --help
    return kSuccess;
  }
  return std::nullopt;
}

std::size_t place_of_option(const CLI::App& app, const Arguments& arguments, std::string_view name) {
  Arguments passed;
  auto argument = arguments.begin();
  while (argument != arguments.end() && argument->starts_with('-') && *argument != "--") {
    if (std::string_view(*argument).substr(0, argument->find('=')) == name) return static_cast<std::size_t>(argument - arguments.begin());
    const std::ptrdiff_t taken = take_option(app, argument, arguments.end(), passed);
    if (taken == 0) break;
    argument += taken;
  }
  return arguments.size();
}

Result<ProgramArguments> split_program(const CLI::App& app, const Arguments& arguments) {
  ProgramArguments split;
  auto argument = arguments.begin();
  while (argument != arguments.end() && argument->starts_with('-') && argument->size() > 1) {
    if (*argument == "--") {
      ++argument;
      break;
    }
    const std::ptrdiff_t taken = take_option(app, argument, arguments.end(), split.options);
    if (taken == 0) return unknown_option(app, *argument);
    argument += taken;
  }
  split.program.assign(argument, arguments.end());
  return split;
}

}  // namespace lanescope::cli
