// Options of ncu that lanescope kernels does not need or does not have. They are left out, one line says so, and everything else is measured.
#pragma once

#include <CLI/CLI.hpp>

#include "options/unrecorded_options.h"

namespace lanescope::cli {

// Adds them to the command, without a line in its help. Parsing fills `options`, which must live as long as `app`. Options that ask for what is done here
// anyway leave nothing there.
void describe_ncu_options(CLI::App& app, UnrecordedOptions& options);

}  // namespace lanescope::cli
