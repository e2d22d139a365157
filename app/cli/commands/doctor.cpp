// lanescope doctor: what is missing on this machine, and the line that fixes each.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "doctor/examination.h"
#include "remote/remote_work.h"

namespace lanescope::cli {
namespace {

constexpr const char* kDoctorFooter =
    "Examples:\n"
    "  lanescope doctor\n"
    "  lanescope doctor --on ssh:gpu7           of another machine\n"
    "  lanescope doctor --json                  for scripts: part, verdict (ok, note, fail), text, remedies\n"
    "\n"
    "It changes nothing itself. Exit codes: 0 when nothing fails that most recordings need, 1 when something does, 2 for wrong usage.";

void print_json(const std::vector<Finding>& findings) {
  nlohmann::json parts = nlohmann::json::array();
  for (const Finding& finding : findings) parts.push_back(as_json(finding));
  std::cout << nlohmann::json{{"lanescope", LANESCOPE_VERSION}, {"system", system_text()}, {"parts", std::move(parts)}}.dump(2) << '\n';
}

}  // namespace

int run_doctor(Arguments arguments) {
  CLI::App app("Says what this machine can record and, for what it can't, the command that would change that.", "lanescope doctor");
  app.footer(kDoctorFooter);
  bool json = false;
  app.add_flag("--json", json, "Print JSON");
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, "doctor", app);
  const std::vector<Finding> findings = examine();
  json ? print_json(findings) : print_examination(std::cout, findings);
  const bool fails = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.verdict == Verdict::kFails; });
  return fails ? kFailure : kSuccess;
}

}  // namespace lanescope::cli
