#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "collector/remote/serve.h"
#include "collector/session/discard_notes.h"
#include "collector/session/inheritance.h"
#include "output/message_reserve.h"
#include "output/printable_stream.h"
#include "run.h"
#include "session/ending.h"
#ifdef LANESCOPE_IS_CODE_NAMES
#include "code_names/program.h"
#endif
#ifdef LANESCOPE_IS_KERNEL_METRICS
#include "kernel_metrics/program.h"
#endif

namespace {

int run_with_messages(const lanescope::cli::Arguments& arguments) {
  const lanescope::cli::MessageReserve reserve(std::cerr);
  const lanescope::cli::PrintableStream output(std::cout), errors(std::cerr);
  return lanescope::cli::run(arguments);
}

}  // namespace

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
  const char* const notes = std::getenv(lanescope::remote::kDiscardNotes);
  const bool is_kept_from_afar = notes != nullptr;  // who keeps it takes a signal for the end of the recorder alone
  if (is_kept_from_afar) {
    lanescope::session::note_discards_in(notes);
    unsetenv(lanescope::remote::kDiscardNotes);  // the environment is what programs get
  }
  const int code = run_with_messages({argv + 1, argv + argc});
  std::cout.flush();
  std::fflush(nullptr);
  if (!is_kept_from_afar) lanescope::cli::end_as_told();
  return code;
}
