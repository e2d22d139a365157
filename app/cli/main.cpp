#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>

#include "collector/channel/large_stack.h"
#include "collector/remote/serve.h"
#include "collector/session/discard_notes.h"
#include "collector/session/distant_reader.h"
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

// A file name from a variable that another machine set for a recorder. The variable is removed from the environment, which programs inherit.
std::optional<std::filesystem::path> note_from_afar(const char* variable) {
  const char* const note = std::getenv(variable);
  if (note == nullptr) return std::nullopt;
  std::filesystem::path path = note;
  unsetenv(variable);
  return path;
}

int run_with_messages(const lanescope::cli::Arguments& arguments) {
  const lanescope::cli::MessageReserve reserve(std::cerr);
  const lanescope::cli::PrintableStream output(std::cout), errors(std::cerr);
  return lanescope::cli::run(arguments);
}

int program(int argc, char** argv) {
  // In packages, other programs of the recorder are this one by another name (packaging/portable/part_of_lanescope.cpp).
  [[maybe_unused]] const std::string_view name = argc > 0 ? argv[0] : "";
#ifdef LANESCOPE_IS_CODE_NAMES
  if (name == "lanescope-code-names") return lanescope::code_names::program(argc, argv);
#endif
#ifdef LANESCOPE_IS_KERNEL_METRICS
  if (name == "lanescope-kernel-metrics") return lanescope::kernel_metrics::program(argc, argv);
#endif
  lanescope::session::keep_inheritance();
  const auto discards = note_from_afar(lanescope::remote::kDiscardNotes);
  if (discards) lanescope::session::note_discards_in(*discards);
  if (const auto reading = note_from_afar(lanescope::remote::kReadingNote)) lanescope::session::print_for_distant_reader(*reading);
  const auto code_note = note_from_afar(lanescope::remote::kCodeNote);
  const int code = run_with_messages({argv + 1, argv + argc});
  std::cout.flush();
  std::fflush(nullptr);
  if (code_note) lanescope::remote::note_code(*code_note, code);
  if (!discards) lanescope::cli::end_as_told();  // otherwise whoever keeps the recorder would think that the signal ended only the recorder
  return code;
}

}  // namespace

int main(int argc, char** argv) { return lanescope::channel::on_large_stack(program, argc, argv); }
