// The commands, one file each. A command takes the arguments after its name and returns the exit code (see command.h).
#pragma once

#include "command.h"

namespace lanescope::cli {

int run_profile(Arguments arguments);
int run_attach(Arguments arguments);
int run_launch(Arguments arguments);
int run_start(Arguments arguments);
int run_stop(Arguments arguments);
int run_cancel(Arguments arguments);
int run_shutdown(Arguments arguments);
int run_sessions(Arguments arguments);
int run_doctor(Arguments arguments);
int run_status(Arguments arguments);
// Prints the line of `lanescope sessions list` for this session. Returns the exit code.
int show_session(const std::string& name);
int run_info(Arguments arguments);
int run_stats(Arguments arguments);
int run_query(Arguments arguments);
int run_analyze(Arguments arguments);
int run_diff(Arguments arguments);
int run_export(Arguments arguments);
std::vector<std::string> export_types();  // of `lanescope export -t`
// Where `lanescope export -t TYPE FILE` writes without -o. Requires: `type` is one of export_types().
std::string export_place(std::string_view file, std::string_view type);
int run_import(Arguments arguments);
int run_report(Arguments arguments);
int run_kernels(Arguments arguments);
int run_serve(Arguments arguments);
int run_fetch(Arguments arguments);
int run_fleet(Arguments arguments);  // also under nsys's name, recipe

}  // namespace lanescope::cli
