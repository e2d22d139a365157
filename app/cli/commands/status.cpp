// lanescope status: what lanescope doctor prints, under nsys's name, or what a session does.
#include <iostream>

#include "commands.h"
#include "doctor/examination.h"
#include "remote/remote_work.h"

namespace lanescope::cli {

int run_status(Arguments arguments) {
  CLI::App app(
      "Says what this machine can record and, for what it can't, what would change that. lanescope doctor says the same, and its exit\ncode tells of failures.",
      "lanescope status");
  bool everything = false;
  std::string session;
  app.add_flag("-e,--environment,-n,--network,-a,--all", everything, "Accepted as by nsys: everything is always shown");
  app.add_option("--session", session, "Say what this session does instead")->type_name("NAME");
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, "status", app);
  if (!session.empty()) return show_session(session);
  print_examination(std::cout, examine());
  return kSuccess;
}

}  // namespace lanescope::cli
