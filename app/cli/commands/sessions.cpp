// lanescope sessions, stop, cancel, shutdown: requests to recordings that run elsewhere.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "commands.h"
#include "options/launch_options.h"
#include "remote/remote_work.h"
#include "session/message_values.h"
#include "session/session_directory.h"

namespace lanescope::cli {
namespace {

constexpr const char* kSessionsFooter =
    "A session is a program that runs under lanescope launch, profile or attach. Without --session, the only session is\n"
    "meant. See them with: lanescope sessions list";

void describe_session(CLI::App& app, std::string& name) {
  app.footer(kSessionsFooter);
  app.add_option("--session", name, "Which session")->type_name("NAME")->group("Session");
}

Result<SessionAnswer> ask(const std::string& name, const nlohmann::json& request) {
  const Result<std::string> session = choose_session(name);
  if (!session) return session.error();
  return ask_session(*session, request);
}

// "01:02:03".
std::string clock_text(std::int64_t seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%02ld:%02ld:%02ld", static_cast<long>(seconds / 3600), static_cast<long>(seconds / 60 % 60),
                static_cast<long>(seconds % 60));
  return text.data();
}

enum class Header { kShown, kLeftOut };

// Lists what is of this name; empty: everything.
int list(const std::string& what, Header header) {
  if (header == Header::kShown) std::printf("%10s  %8s  %-10s  %8s  %s\n", "ID", "TIME", "STATE", "LAUNCH", "NAME");
  for (const std::string& name : session_names()) {
    if (!what.empty() && name != what) continue;
    const SessionLook look = look_at_session(name);
    if (look.state == SessionLook::kGone) continue;  // it has just ended
    if (look.state != SessionLook::kAnswers) {
      std::printf("%10s  %8s  %-10s  %8s  %s\n", look.recorder != 0 ? std::to_string(look.recorder).c_str() : "?", "?",
                  look.state == SessionLook::kStopped ? "Stopped" : "Beginning", "?", name.c_str());
      continue;
    }
    const nlohmann::json& session = look.description;
    const auto process = [&session](const char* which) {
      const Result<std::int64_t> number = whole_number_in(session, which, 0, std::numeric_limits<pid_t>::max());
      return number ? std::to_string(*number) : "?";
    };
    const Result<std::int64_t> seconds = whole_seconds_in(session, "seconds");
    const std::string state = session.contains("state") && session["state"].is_string() ? session["state"].get<std::string>() : "?";
    std::printf("%10s  %8s  %-10s  %8s  %s\n", process("pid").c_str(), seconds ? clock_text(*seconds).c_str() : "?", state.c_str(), process("target").c_str(),
                name.c_str());
  }
  for (const std::string& name : left_starts())
    if (what.empty() || name == what) std::printf("%10d  00:00:00  %-10s  %8d  %s\n", 0, "Awaited", 0, name.c_str());
  return kSuccess;
}

// Removes a start that no launch has taken. Returns true if there was one that is meant. Fails if it is not clear which one is meant.
Result<bool> take_back(const std::string& session) {
  if (session.empty() && !session_names().empty()) return false;
  const Result<std::string> name = session.empty() ? only_left_start() : Result<std::string>(session);
  if (!name) return name.error();
  const std::vector<std::string> left = left_starts();
  if (std::find(left.begin(), left.end(), *name) == left.end() || !take_start_back(*name)) return false;
  std::cerr << "The next lanescope launch is not recorded at once any more.\n";
  return true;
}

// The texts of this name in an answer.
std::vector<std::string> texts_in(const nlohmann::json& answer, const char* name) {
  std::vector<std::string> texts;
  if (const auto found = answer.find(name); found != answer.end() && found->is_array())
    for (const nlohmann::json& text : *found)
      if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}
bool flag_in(const nlohmann::json& answer, const char* name) {
  const auto flag = answer.find(name);
  return flag != answer.end() && flag->is_boolean() && flag->get<bool>();
}

// The identity of the file that a session answers with.
std::optional<FileIdentity> identity_in(const nlohmann::json& answer) {
  const auto parts = answer.find("identity");
  const auto is_whole = [](const nlohmann::json& part) { return part.is_number_integer(); };
  if (parts == answer.end() || !parts->is_array() || parts->size() != 3 || !std::all_of(parts->begin(), parts->end(), is_whole)) return std::nullopt;
  return FileIdentity{parts->at(0).get<std::uint64_t>(), parts->at(1).get<std::uint64_t>(), parts->at(2).get<std::int64_t>()};
}

// Ends a capture, which is kept or thrown away.
int end_capture(Arguments arguments, const char* command, const char* description, const char* says) {
  CLI::App app(description, std::string("lanescope ") + command);
  std::string session;
  RemoteOptions remote;
  describe_session(app, session);
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, command, app);
  const Result<bool> taken_back = take_back(session);
  if (!taken_back) return fail(taken_back.error());
  if (*taken_back) return kSuccess;
  const Result<SessionAnswer> asked = ask(session, {{"command", command}});
  if (!asked) return fail(asked.error());
  const nlohmann::json& answer = asked->words;
  const std::filesystem::path file = text_in(answer, "file");
  if (file.empty()) {
    std::cerr << "The range had not begun: there is no file.\n";
    return kSuccess;
  }
  std::cerr << says << "\n\t" << file.string() << '\n';
  // If we end before everything is made, the session makes the rest.
  const auto tell_session = [&asked](const std::string& what) {
    const std::string text = nlohmann::json{{"made", what}}.dump();
    static_cast<void>(!send(asked->connection.get(), text.data(), text.size(), MSG_NOSIGNAL));
  };
  const Reports reports =
      make_reports(file, {texts_in(answer, "exports"), flag_in(answer, "statistics"), flag_in(answer, "overwrite") ? Overwrite::kAllow : Overwrite::kRefuse},
                   identity_in(answer), tell_session);
  return reports == Reports::kMade ? kSuccess : kFailure;
}

}  // namespace

int run_sessions(Arguments arguments) {
  CLI::App app("Lists the sessions of this user: recordings that can be asked to start, stop, cancel and shut down.", "lanescope sessions");
  std::string what = "list";
  bool show_header = true;
  app.add_option("WHAT", what, "list")->check(one_of({"list"}));
  app.add_flag("-p,--show-header", show_header, "Say what the columns are [true]");
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, "sessions", app);
  return list("", show_header ? Header::kShown : Header::kLeftOut);
}

int show_session(const std::string& name) {
  const std::vector<std::string> left = left_starts();
  if (std::find(left.begin(), left.end(), name) == left.end())
    if (const Result<std::string> session = choose_session(name); !session) return fail(session.error());
  return list(name, Header::kShown);
}

int run_stop(Arguments arguments) { return end_capture(std::move(arguments), "stop", "Ends the capture of a session; the program runs on.", "Generated:"); }

int run_cancel(Arguments arguments) {
  return end_capture(std::move(arguments), "cancel", "Ends the capture of a session and throws its file away.", "Thrown away:");
}

int run_shutdown(Arguments arguments) {
  CLI::App app("Ends a session, and its program unless that was attached to. What has been recorded is kept.", "lanescope shutdown");
  std::string session;
  std::string kill;
  describe_session(app, session);
  app.add_option("--kill", kill, "What ends the program: none, sigterm, sigkill, or a number")
      ->type_name("SIGNAL")
      ->check(help_lists(signals_of_end()))
      ->default_str("sigterm; none where it was attached to");
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, "shutdown", app);
  const Result<bool> taken_back = take_back(session);
  if (!taken_back) return fail(taken_back.error());
  if (*taken_back) return kSuccess;
  nlohmann::json request{{"command", "shutdown"}};
  if (!kill.empty()) {
    const Result<std::optional<int>> signal = end_signal(kill);
    if (!signal) return fail(signal.error());
    request["signal"] = signal->value_or(0);
  }
  const Result<SessionAnswer> answer = ask(session, request);
  return answer ? kSuccess : fail(answer.error());
}

}  // namespace lanescope::cli
