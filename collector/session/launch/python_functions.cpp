#include "collector/session/python_functions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

namespace lanescope::session {
namespace {

constexpr std::size_t kMostBytes = 4u << 20;

Error error_of(const std::string& file, const std::string& what) { return {file + " " + what, ErrorKind::kUsage}; }

bool is_name(const nlohmann::json& value) { return value.is_string() && !value.get_ref<const std::string&>().empty(); }

// What is wrong with the members of a module or a function other than its name; nothing if they are valid.
std::optional<std::string> fault_of_looks(const nlohmann::json& object) {
  if (object.contains("domain") && !is_name(object["domain"])) return "a domain that is no text";
  if (object.contains("color") && !is_name(object["color"]) && !object["color"].is_number_unsigned()) return "a colour that is neither a name nor a number";
  return std::nullopt;
}

std::optional<std::string> fault_of_function(const nlohmann::json& function) {
  if (is_name(function)) return std::nullopt;
  if (!function.is_object() || !function.contains("function") || !is_name(function["function"])) return "a function without a name";
  return fault_of_looks(function);
}

std::optional<std::string> fault_of_module(const nlohmann::json& module) {
  if (!module.is_object() || !module.contains("module") || !is_name(module["module"])) return "an entry without a module";
  if (!module.contains("functions") || !module["functions"].is_array()) return "a module without a list of functions";
  for (const nlohmann::json& function : module["functions"])
    if (auto fault = fault_of_function(function)) return fault;
  return fault_of_looks(module);
}

}  // namespace

Result<std::filesystem::path> python_functions(const std::string& file) {
  std::error_code failed;
  // A pipe may have no writer, and the program could not read it a second time.
  if (std::filesystem::exists(file, failed) && !std::filesystem::is_regular_file(file, failed)) return error_of(file, "is no file.");
  std::ifstream input(file, std::ios::binary);
  if (!input) return error_of(file, std::string("can't be read (") + std::strerror(errno) + ").");
  std::string text(kMostBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMostBytes) return error_of(file, "is larger than 4 MiB.");
  const nlohmann::json modules = nlohmann::json::parse(text, nullptr, false);
  if (modules.is_discarded()) return error_of(file, "is no JSON.");
  std::optional<std::string> fault = modules.is_array() ? std::nullopt : std::optional<std::string>("no list of modules");
  for (const nlohmann::json& module : modules)
    if (!fault) fault = fault_of_module(module);
  if (fault) return error_of(file, "has " + *fault + R"(. It should read: [{"module": "numpy", "functions": ["dot"]}])");
  return std::filesystem::absolute(file);
}

std::vector<std::string> modules_of(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  const nlohmann::json modules = nlohmann::json::parse(input, nullptr, false);
  std::set<std::string> names;
  if (modules.is_array())
    for (const nlohmann::json& module : modules)
      if (!fault_of_module(module)) names.insert(module["module"].get<std::string>());
  return {names.begin(), names.end()};
}

std::optional<std::string> option_against_marks(std::span<const std::string> command) {
  if (command.empty() || !std::filesystem::path(command[0]).filename().string().starts_with("python")) return std::nullopt;
  constexpr std::string_view kWithValue = "WXcm";
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& option = command[i];
    if (option.size() < 2 || option[0] != '-' || option[1] == '-') return std::nullopt;
    for (std::size_t at = 1; at < option.size(); ++at) {
      if (const char letter = option[at]; letter == 'I' || letter == 'E' || letter == 'S') return std::string{'-', letter};
      if (option[at] == 'c' || option[at] == 'm') return std::nullopt;
      if (kWithValue.find(option[at]) == std::string_view::npos) continue;
      if (at + 1 == option.size()) ++i;
      break;
    }
  }
  return std::nullopt;
}

}  // namespace lanescope::session
