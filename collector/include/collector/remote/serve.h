// The far end of a link: answers a lanescope on another machine, over two descriptors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::remote {

// The variable that names a file to a recorder that another machine started. What the recorder says goes there once its standard error takes no more. Room in
// it was reserved before the program started, because the program shares that standard error and may fill the disk.
inline constexpr const char* kMessageReserve = "LANESCOPE_MESSAGE_RESERVE";

// The variable that names a file to such a recorder, which notes there what it throws away (collector/session/discard_notes.h). A file that is gone and not
// noted was removed by somebody else; the copy of it elsewhere is then the only one.
inline constexpr const char* kDiscardNotes = "LANESCOPE_DISCARD_NOTES";

// The variable that names a file to such a recorder. The file says how far its program's output was read (collector/session/distant_reader.h).
inline constexpr const char* kReadingNote = "LANESCOPE_READING_NOTE";

// The variable that names a file to such a recorder, which writes its exit code there as its last action: the process that waits for it may be killed before.
inline constexpr const char* kCodeNote = "LANESCOPE_CODE_NOTE";
void note_code(const std::filesystem::path& note, int code);

// Makes outlines of a file that grows: frames for whoever draws it, at most `most` bytes; empty if there are none. Called by one thread at a time, not always
// the same.
using Outlines = std::function<std::vector<std::byte>(std::size_t most, const std::stop_token& stop)>;

struct ServeSettings {
  std::filesystem::path program;  // lanescope, for recorders and commands
  std::string version;
  std::chrono::milliseconds patience{60'000};                      // how long the other side may be silent
  std::chrono::milliseconds look{50};                              // between looks at files that grow
  std::function<Outlines(const std::filesystem::path&)> outlines;  // of this file; without it, none are sent
};

// Answers until the other side leaves. What it has started runs on. Fails with one sentence if the other side makes no sense or has another protocol.
// Requires: one thread, and that SIGPIPE is ignored.
Result<void> serve(channel::FileDescriptor in, channel::FileDescriptor out, const ServeSettings& settings);

// A recording that another machine asked this one for, and has not fetched completely.
struct KeptRecording {
  std::string name;
  std::string state;        // one word
  std::uint64_t bytes = 0;  // of its trace files
};
// Fails with one sentence if the folder of recordings can't be had.
Result<std::vector<KeptRecording>> kept_recordings();

}  // namespace lanescope::remote
