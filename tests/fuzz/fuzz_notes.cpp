// Any bytes as notes beside a trace. What is written of them must be read as the same notes.
#include <cstdlib>

#include "fuzz_target.h"
#include "model/notes/notes.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Notes notes = parse_notes(text);
  const Notes again = parse_notes(format_notes(notes, "run.trace"));
  if (again.notes != notes.notes || again.other_lines != notes.other_lines || again.utc_epoch != notes.utc_epoch || again.left_out != 0) std::abort();
  for (const Note& note : notes.notes)
    if (note.text.size() > kLongestNote || stored_text(note.text) != note.text) std::abort();
  // Of two people, one removed the first note, and the other changed nothing.
  if (notes.notes.empty()) return 0;
  const std::vector<Note> mine(notes.notes.begin() + 1, notes.notes.end());
  if (merge_notes(notes, mine, notes).notes.size() != mine.size()) std::abort();
  return 0;
}

std::vector<std::string> valid_inputs() {
  Notes notes;
  notes.notes = {{-1, "before"}, {123'456'789, "first slow step"}, {1'500'000'000, "two\nlines\tand a \\"}};
  notes.other_lines = {"# by Anna", "written by hand"};
  notes.utc_epoch = 1'764'547'200'000'000'001;
  return {format_notes(notes, "run.trace"), "1.5  x\r\n-0.000000001 y\n2147483648 z\n  # a\n\n1.  \n", "0.1 \xff\xfe\x1b[31m\n"};
}
