// What nsys's command lines ask for and is not recorded here. It is left out, one line says so, and everything else is recorded. With --strict it is wrong
// usage.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::cli {

// As typed.
struct UnrecordedOptions {
  struct Item {
    std::string argument;  // "--isr=true", "--trace=vulkan"
    std::string advice;    // a sentence or two
  };
  std::vector<Item> items;
  bool is_refused = false;
};

// Adds --strict, nsys's options that the command lacks (without a line in its help), and nsys's values to the options that it has. It must therefore be
// called after these were added. Parsing fills `options`, which must live as long as `app`.
void describe_unrecorded(CLI::App& app, UnrecordedOptions& options);

// Prints what is left out, one line each. Fails, of kind kUsage, if that is refused.
Result<void> say_unrecorded(const UnrecordedOptions& options);

}  // namespace lanescope::cli
