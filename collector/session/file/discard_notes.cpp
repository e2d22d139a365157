#include "collector/session/discard_notes.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "collector/channel/file_descriptor.h"

namespace lanescope::session {
namespace {

std::filesystem::path& notes_of_discards() {
  static std::filesystem::path notes;
  return notes;
}

}  // namespace

void note_discards_in(std::filesystem::path notes) { notes_of_discards() = std::move(notes); }

void note_discard(const std::filesystem::path& file) {
  const std::filesystem::path& notes = notes_of_discards();
  if (notes.empty() || file.parent_path() != notes.parent_path()) return;
  const channel::FileDescriptor opened(open(notes.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string line = file.filename().string() + '\n';
  if (opened.valid()) static_cast<void>(write(opened.get(), line.data(), line.size()));
}

}  // namespace lanescope::session
