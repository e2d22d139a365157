#include <iostream>

#include "collector/session/inheritance.h"
#include "output/printable_stream.h"
#include "run.h"

int main(int argc, char** argv) {
  lanescope::session::keep_inheritance();
  const lanescope::cli::PrintableStream output(std::cout), errors(std::cerr);
  return lanescope::cli::run({argv + 1, argv + argc});
}
