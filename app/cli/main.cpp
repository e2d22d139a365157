#include <cstdlib>
#include <iostream>
#include <string_view>

#include "collector/remote/serve.h"
#include "collector/session/discard_notes.h"
#include "collector/session/inheritance.h"
#include "output/message_reserve.h"
#include "output/printable_stream.h"
#include "run.h"
#ifdef LANESCOPE_IS_CODE_NAMES
#include "code_names/program.h"
#endif
#ifdef LANESCOPE_IS_KERNEL_METRICS
#include "kernel_metrics/program.h"
#endif

int main(int argc, char** argv) {
  // In packages, other programs of the recorder are this one by another name (packaging/portable/part_of_lanescope.cpp).
  [[maybe_unused]] const std::string_view name = argc > 0 ? argv[0] : "";
#ifdef LANESCOPE_IS_CODE_NAMES
  if (name == "lanescope-code-names") return lanescope::code_names::program(argc, argv);
#endif
#ifdef LANESCOPE_IS_KERNEL_METRICS
  if (name == "lanescope-kernel-metrics") return lanescope::kernel_metrics::program(argc, argv);
#endif
  lanescope::session::keep_inheritance();
  const lanescope::cli::MessageReserve reserve(std::cerr);
  if (const char* notes = std::getenv(lanescope::remote::kDiscardNotes)) {
    lanescope::session::note_discards_in(notes);
    unsetenv(lanescope::remote::kDiscardNotes);  // the environment is what programs get
  }
  const lanescope::cli::PrintableStream output(std::cout), errors(std::cerr);
  return lanescope::cli::run({argv + 1, argv + argc});
}
