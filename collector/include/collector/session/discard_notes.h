// A note of each recording that was thrown away as was asked, or because nothing could be recorded: for who copies them, and has to tell that from a
// file that somebody else has removed.
#pragma once

#include <filesystem>

namespace lanescope::session {

// From now on, the name of each file that a recording throws away is appended to this file, a line each, before it goes; to none where the path is
// empty, as at first. Files in other folders than `notes` are not noted. Before there are other threads.
void note_discards_in(std::filesystem::path notes);

// A file at this path is about to be thrown away. What can't be noted is not, and nobody is told. Any thread.
void note_discard(const std::filesystem::path& file);

}  // namespace lanescope::session
