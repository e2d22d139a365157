#include "help.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kColumn = 38;  // where descriptions begin

bool is_flag(const CLI::Option* option) { return option->get_items_expected_max() == 0; }

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kColumn); }

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "\nUsage: " + (name.empty() ? app->get_name() : name) + " [OPTIONS]";
  for (const CLI::Option* option : app->get_options([](const CLI::Option* each) { return each->get_positional(); }))
    usage += " " + option->get_name(true) + make_option_opts(option);
  return usage + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (is_flag(option)) return "";
  if (option->get_positional()) return option->get_items_expected_max() > 1 ? "..." : "";
  const std::string type = option->get_type_name();  // checks add themselves behind a colon
  return " " + type.substr(0, type.find(':'));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string standard = option->get_default_str();
  return option->get_description() + (standard.empty() || is_flag(option) ? "" : " [" + standard + "]");
}

}  // namespace lanescope::cli
