#include "help.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kColumn = 38;      // start of descriptions
constexpr std::size_t kLineWidth = 122;  // of a whole line

// Breaks lines at spaces so that none is longer than the width. Line breaks of the text itself are kept.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result;
  std::size_t line = 0;  // start of the current line
  std::size_t space = std::string::npos;
  for (const char c : text) {
    result += c;
    if (c == '\n') {
      line = result.size();
      space = std::string::npos;
    }
    if (c == ' ') space = result.size() - 1;
    if (result.size() - line <= width || space == std::string::npos) continue;
    result[space] = '\n';
    line = space + 1;
    space = std::string::npos;
  }
  return result;
}

bool is_flag(const CLI::Option* option) { return option->get_items_expected_max() == 0; }

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kColumn); }

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  std::string help;
  for (const char c : text)
    if (c != '\n' || !help.ends_with("\n\n")) help += c;  // CLI11 leaves two empty lines between groups
  while (help.ends_with("\n\n")) help.pop_back();
  return help;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "\nUsage: " + (name.empty() ? app->get_name() : name) + " [OPTIONS]";
  for (const CLI::Option* option : app->get_options([](const CLI::Option* each) { return each->get_positional(); }))
    usage += " " + option->get_name(true) + make_option_opts(option);
  return usage + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (is_flag(option)) return "";
  if (option->get_positional()) return option->get_items_expected_max() > 1 ? "..." : "";
  const std::string type = option->get_type_name();  // checks append their own text after a colon
  return " " + type.substr(0, type.find(':'));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string standard = option->get_default_str();
  return wrapped(option->get_description() + (standard.empty() || is_flag(option) ? "" : " [" + standard + "]"), kLineWidth - kColumn);
}

}  // namespace lanescope::cli
