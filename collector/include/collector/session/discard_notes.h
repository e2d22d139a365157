// Notes about recordings that were thrown away, because this was asked for or because nothing could be recorded. Whoever copies recordings must distinguish
// these from files that somebody else removed.
#pragma once

#include <filesystem>

namespace lanescope::session {

// From now on, the name of each file that a recording throws away is appended to the file `notes`, one a line, before that file is removed. Nothing is noted
// if the path is empty, which is the initial state. Files in other folders than that of `notes` are not noted. Must be called before there are other threads.
void note_discards_in(std::filesystem::path notes);

// Notes that the file at this path is about to be thrown away. A failure to note it is ignored. Any thread.
void note_discard(const std::filesystem::path& file);

}  // namespace lanescope::session
