// lanescope sessions, start, stop, cancel, shutdown: what is asked of recordings that run elsewhere.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "../launch_options.h"
#include "../session_directory.h"
#include "commands.h"

namespace lanescope::cli {
namespace {

constexpr const char* kFooter =
    "A session is a program that runs under lanescope launch, profile or attach. Without --session, the only one there is is\n"
    "meant. See them with: lanescope sessions list";

void describe_session(CLI::App& app, std::string& name) {
  app.footer(kFooter);
  app.add_option("--session", name, "Which session")->type_name("NAME")->group("Session");
}

Result<nlohmann::json> ask(const std::string& name, const nlohmann::json& request) {
  const Result<std::string> session = choose_session(name);
  if (!session) return session.error();
  return ask_session(*session, request);
}

enum class Header { kShown, kLeftOut };

int list(Header header) {
  if (header == Header::kShown) std::printf("%10s  %8s  %-10s  %8s  %s\n", "ID", "TIME", "STATE", "LAUNCH", "NAME");
  for (const std::string& name : session_names()) {
    const Result<nlohmann::json> session = ask_session(name, {{"command", "describe"}});
    if (!session) continue;  // it has just ended
    const auto seconds = static_cast<long>((*session)["seconds"].get<double>());
    std::printf("%10ld  %02ld:%02ld:%02ld  %-10s  %8ld  %s\n", (*session)["pid"].get<long>(), seconds / 3600, seconds / 60 % 60,
                seconds % 60, (*session)["state"].get<std::string>().c_str(), (*session)["target"].get<long>(), name.c_str());
  }
  return kSuccess;
}

// The end of a capture, kept or thrown away.
int end_capture(Arguments arguments, const char* command, const char* description, const char* says) {
  CLI::App app(description, std::string("lanescope ") + command);
  std::string session;
  describe_session(app, session);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  const Result<nlohmann::json> answer = ask(session, {{"command", command}});
  if (!answer) return fail(answer.error());
  std::cerr << says << "\n\t" << (*answer)["file"].get<std::string>() << '\n';
  return kSuccess;
}

}  // namespace

int run_sessions(Arguments arguments) {
  CLI::App app("Lists the sessions of this user: recordings that can be asked to start, stop, cancel and shut down.", "lanescope sessions");
  std::string what = "list";
  bool show_header = true;
  app.add_option("WHAT", what, "list")->check(CLI::IsMember({"list"}));
  app.add_flag("-p,--show-header", show_header, "Say what the columns are [true]");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  return list(show_header ? Header::kShown : Header::kLeftOut);
}

int run_start(Arguments arguments) {
  CLI::App app("Begins a capture in a session.", "lanescope start");
  std::string session;
  std::string output;
  bool overwrite = false;
  describe_session(app, session);
  app.add_option("-o,--output", output, "The file, as for lanescope profile")->type_name("FILE")->default_str("report%n")->group("Output");
  app.add_flag("-f,--force-overwrite", overwrite, "Replace the file when it exists [false]")->group("Output");
  constexpr const char* kOfLaunch = "Give it to lanescope launch: it holds for every capture of the session.";
  if (const auto code = parse(app, std::move(arguments), kOfLaunch)) return *code;
  // The session may have been started in another folder.
  if (!output.empty()) output = std::filesystem::absolute(output).string();
  const Result<nlohmann::json> answer = ask(session, {{"command", "start"}, {"output", output}, {"overwrite", overwrite}});
  if (!answer) return fail(answer.error());
  std::cerr << "Recording into\n\t" << (*answer)["file"].get<std::string>() << '\n';
  return kSuccess;
}

int run_stop(Arguments arguments) {
  return end_capture(std::move(arguments), "stop", "Ends the capture of a session; the program runs on.", "Generated:");
}

int run_cancel(Arguments arguments) {
  return end_capture(std::move(arguments), "cancel", "Ends the capture of a session and throws its file away.", "Thrown away:");
}

int run_shutdown(Arguments arguments) {
  CLI::App app("Ends a session, and its program unless that was attached to. A capture that is under way is kept.", "lanescope shutdown");
  std::string session;
  std::string kill;
  describe_session(app, session);
  app.add_option("--kill", kill, "What ends the program: none, sigterm, sigkill, or a number")
      ->type_name("SIGNAL")
      ->default_str("sigterm; none where it was attached to");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  nlohmann::json request{{"command", "shutdown"}};
  if (!kill.empty()) {
    const Result<std::optional<int>> signal = end_signal(kill);
    if (!signal) return fail(signal.error());
    request["signal"] = signal->value_or(0);
  }
  const Result<nlohmann::json> answer = ask(session, request);
  return answer ? kSuccess : fail(answer.error());
}

}  // namespace lanescope::cli
