#include "collector/remote/target.h"

#include <algorithm>
#include <array>
#include <cctype>
#include "model/file/last_path_part.h"

namespace lanescope::remote {
namespace {

Error wrong(std::string_view text, const std::string& why) { return {"--on \"" + std::string(text) + "\" " + why, ErrorKind::kUsage}; }

// Parts between slashes: exactly `count`, none of them empty or similar to an option.
Result<std::vector<std::string>> parts_of(std::string_view text, std::string_view rest, std::size_t count, const std::string& form) {
  std::vector<std::string> parts(1);
  for (const char letter : rest) {
    if (letter == '/' && parts.size() < count)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  if (parts.size() != count) return wrong(text, "is not of the form " + form + ".");
  for (const std::string& part : parts) {
    if (part.empty()) return wrong(text, "is not of the form " + form + ".");
    if (part.front() == '-') return wrong(text, "names something that begins with -, which would be taken for an option.");
    if (part.find('\0') != std::string::npos) return wrong(text, "has a byte that no name has.");
  }
  return parts;
}

Result<Target> by_ssh(std::string_view text, std::string_view rest) {
  const auto host = parts_of(text, rest, 1, "ssh:HOST");
  if (!host) return host.error();
  Target target;
  // No terminal, because it would change bytes; a dead link is noticed after a minute; no command of ssh's configuration replaces ours.
  target.prefix = {"ssh", "-T", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "-o", "RemoteCommand=none", "--", host->front()};
  target.ssh = 1;
  target.terminal = Terminal::kShared;
  return target;
}

Result<Target> in_container(std::string_view text, std::string_view rest, const std::string& program) {
  const auto container = parts_of(text, rest, 1, program + ":CONTAINER");
  if (!container) return container.error();
  Target target;
  target.prefix = {program, "exec", "-i", container->front()};
  return target;
}

Result<Target> in_pod(std::string_view text, std::string_view rest) {
  const auto parts = parts_of(text, rest, 3, "k8s:NAMESPACE/POD/CONTAINER");
  if (!parts) return parts.error();
  Target target;
  target.prefix = {"kubectl", "exec", "-i", "-n", (*parts)[0], (*parts)[1], "-c", (*parts)[2], "--"};
  return target;
}

Result<Target> in_job(std::string_view text, std::string_view rest) {
  const auto parts = parts_of(text, rest, 2, "slurm:JOB/NODE");
  if (!parts) return parts.error();
  Target target;
  // Without --unbuffered, srun holds back a command's output until its line ends.
  target.prefix = {"srun", "--jobid=" + (*parts)[0], "--nodelist=" + (*parts)[1], "--overlap", "--ntasks=1", "--quiet", "--unbuffered"};
  return target;
}

// True if a command must follow as one word: after the -c, or -lc, of a shell or of a program that starts one.
bool ends_with_shell(const std::vector<std::string>& prefix) {
  constexpr std::array<std::string_view, 12> kShells{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "su", "runuser"};
  const std::string& last = prefix.back();
  if (last.size() < 2 || last.front() != '-' || last.back() != 'c') return false;
  if (!std::all_of(last.begin() + 1, last.end(), [](unsigned char letter) { return std::isalpha(letter) != 0; })) return false;
  return std::any_of(prefix.begin(), prefix.end() - 1,
                     [&](std::string_view word) { return std::find(kShells.begin(), kShells.end(), last_path_part(word)) != kShells.end(); });
}

Result<Target> by_command(std::string_view text, std::string_view rest) {
  Result<std::vector<std::string>> words = split_words(rest);
  if (!words) return wrong(text, words.error().text);
  if (words->empty() || words->front().empty()) return wrong(text, "names no command.");
  Target target;
  target.prefix = std::move(*words);
  if (ends_with_shell(target.prefix)) target.words = Words::kInOneText;
  target.ssh =
      static_cast<unsigned>(std::count_if(target.prefix.begin(), target.prefix.end(), [](std::string_view word) { return last_path_part(word) == "ssh"; }));
  return target;
}

Result<Target> by_kind(std::string_view text, std::string_view kind, std::string_view rest) {
  if (kind == "ssh") return by_ssh(text, rest);
  if (kind == "docker" || kind == "podman") return in_container(text, rest, std::string(kind));
  if (kind == "k8s") return in_pod(text, rest);
  if (kind == "slurm") return in_job(text, rest);
  if (kind == "command") return by_command(text, rest);
  return wrong(text,
               "names no machine. Say ssh:HOST, docker:CONTAINER, podman:CONTAINER, k8s:NAMESPACE/POD/CONTAINER, slurm:JOB/NODE or "
               "command:PREFIX.");
}

std::string in_quotes(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + '\'';
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

namespace {

std::string name_of_machine(std::string_view target) {
  constexpr std::size_t kLongest = 60;
  std::string name(target.substr(target.find(':') + 1));
  for (char& letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80 && std::isalnum(byte) == 0 && letter != '-' && letter != '.') letter = '_';
  }
  if (name.size() <= kLongest) return name;
  std::size_t begin = name.size() - kLongest;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;  // a letter of several bytes is taken whole
  return name.substr(begin);
}

}  // namespace

Result<std::vector<std::string>> names_of_machines(const std::vector<std::string>& targets) {
  std::vector<std::string> names;
  for (auto target = targets.begin(); target != targets.end(); ++target) {
    if (std::find(targets.begin(), target, *target) != target) return Error{*target + " is named twice. Name each machine once.", ErrorKind::kUsage};
    const std::string name = name_of_machine(*target);
    std::string unlike = name;
    for (int number = 2; std::find(names.begin(), names.end(), unlike) != names.end(); ++number) unlike = name + '-' + std::to_string(number);
    names.push_back(std::move(unlike));
  }
  return names;
}

void forbid_questions(Target& target) {
  if (target.text.starts_with("ssh:")) target.prefix.insert(target.prefix.begin() + 1, {"-o", "BatchMode=yes"});
}

Result<std::vector<std::string>> outputs_of_machines(std::string_view output, const std::vector<std::string>& targets) {
  constexpr std::string_view kExtension = ".trace";
  const std::string pattern(output.empty() ? "report%n" : output);
  const std::size_t end = pattern.ends_with(kExtension) ? pattern.size() - kExtension.size() : pattern.size();
  Result<std::vector<std::string>> outputs = names_of_machines(targets);
  if (!outputs) return outputs;
  for (std::string& name : *outputs) name = pattern.substr(0, end) + '-' + name + pattern.substr(end);
  return outputs;
}

Result<Target> parse_target(std::string_view text) {
  const std::size_t colon = text.find(':');
  Result<Target> target =
      by_kind(text, text.substr(0, colon == std::string_view::npos ? 0 : colon), colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (target) target->text = text;
  return target;
}

std::string quoted_for_shell(std::string_view word) {
  if (!word.starts_with("~/")) return in_quotes(word);
  return "~/" + (word.size() > 2 ? in_quotes(word.substr(2)) : "");
}

std::vector<std::string> command_on(const Target& target, std::vector<std::string> words) {
  // The last shell expands a leading ~/, those before it pass it on.
  unsigned shells = target.ssh + (target.words == Words::kInOneText ? 1 : 0);
  if (shells > 0)
    for (std::string& word : words) word = quoted_for_shell(word);
  if (target.words == Words::kInOneText) words = {joined(words)};
  for (; shells > 1; --shells)
    for (std::string& word : words) word = in_quotes(word);
  std::vector<std::string> command = target.prefix;
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

Result<std::vector<std::string>> split_words(std::string_view text, Comments comments) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote != 0 && letter == quote) {
      quote = 0;
    } else if (letter == '\\' && quote != '\'' && i + 1 < text.size()) {
      const char escaped = text[++i];
      if (escaped == '\n') continue;  // the line continues
      // Within double quotes a backslash is an ordinary character, except before these characters.
      if (quote == '"' && std::string_view("\\\"$`").find(escaped) == std::string_view::npos) word += letter;
      word += escaped;
      is_word = true;
    } else if (quote == 0 && (letter == '"' || letter == '\'')) {
      quote = letter;
      is_word = true;
    } else if (quote == 0 && !is_word && letter == '#' && comments == Comments::kSkipped) {
      i = std::min(text.find('\n', i), text.size());
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
      if (is_word) words.push_back(std::exchange(word, {}));
      is_word = false;
    } else {
      word += letter;
      is_word = true;
    }
  }
  if (quote != 0) return Error{"has a quote that is not closed.", ErrorKind::kUsage};
  if (is_word) words.push_back(word);
  return words;
}

}  // namespace lanescope::remote
