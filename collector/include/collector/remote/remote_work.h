// Work on another machine: a recording that is started or continues there and is copied here; a file that is copied; a command.
//
// A recording there depends on nothing here. The link may break at any byte and is made again, after pauses that grow. Copies continue where they were. In
// the end they are equal to the files there, byte for byte, or an error says that they are not. What comes from there is treated like the bytes of a hostile
// file: within limits, and never as a path.
//
// One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/remote/target.h"
#include "model/file/new_file.h"

namespace lanescope::remote {

// What is to be done on the other machine.
struct NewRecording {
  std::string command;  // profile, launch or attach
  std::vector<std::string> options;
  std::vector<std::string> operands;  // the program with its arguments, or the process
  std::string folder;                 // in which it runs; empty: where a command of this user starts
};
struct ExistingRecording {
  std::string name;
};
struct ForeignFile {
  std::string path;
};
struct ForeignCommand {
  std::vector<std::string> arguments;
};
using Task = std::variant<NewRecording, ExistingRecording, ForeignFile, ForeignCommand>;

struct Patience {
  std::chrono::milliseconds greeting{60'000};  // until the other side answers: somebody may have to type a password
  std::chrono::milliseconds silence{30'000};
  std::chrono::milliseconds first_pause{1'000};  // before a broken link is made again; each further pause is twice as long
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::milliseconds without_link{600'000};  // after this time without a link the work is given up
};

enum class Wish { kGoOn, kStop, kLeave };  // kStop: the recording there shall end; kLeave: it may continue without us
enum class TextStream { kOutput, kMessages };

// How far the printed output was read.
struct Reading {
  std::uint64_t waits = 0;  // bytes that nobody has taken yet
  bool has_left = false;    // nobody reads it any more
};

struct WorkSettings {
  std::string target;                // as the user named it
  std::vector<std::string> command;  // leads to the other side
  // In place of `command` until there is an answer, if it is set: it reads these bytes first, and then becomes the other side.
  std::vector<std::string> first_command;
  std::string first_bytes;
  // A line that begins with this, and comes before the other side's own words, is for our caller: WorkOutcome::marked. Empty: there is none.
  std::string mark;
  Terminal terminal = Terminal::kNone;
  std::string version;  // of the lanescope here
  Task task;
  Overwrite overwrite = Overwrite::kRefuse;
  Patience patience;
  // Called while it works:
  std::function<Result<std::filesystem::path>(std::size_t number)> place;  // returns the place of the number-th file, from 1
  std::function<void(TextStream stream, std::string_view bytes)> print;    // takes what a recorder, its program, or a command printed there
  // Called often for a new recording: if a program's output is taken slowly, the program waits there, and its writes fail if the reader has left. If it is
  // empty, everything that was printed counts as taken.
  std::function<Reading(TextStream stream)> reading;
  std::function<void(const std::string& sentence)> tell;
  std::function<bool()> keeps_recording = [] { return false; };              // asked once everything is here: true if the recording also stays there
  std::function<Wish()> wish = [] { return Wish::kGoOn; };                   // called about twenty times a second
  std::function<int()> stop_signal = [] { return 0; };                       // the signal that asked for kStop; 0: Ctrl+C
  std::function<std::optional<int>()> signal = [] { return std::nullopt; };  // the next signal for the program there, one for which passes_on() is true
  std::function<void(std::chrono::milliseconds)> behind = [](std::chrono::milliseconds) {};  // how far copies here are behind the files there
  // Takes what the first file there shows by now, in little (trace_of_outline), while its copy is far behind. If it is not set, none is sent.
  std::function<void(std::string_view frames)> outline;
};

struct CopiedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

// What is missing on the other side, if that is why it failed.
enum class Missing { kNothing, kProgram, kProtocol };

struct WorkOutcome {
  std::optional<Error> failure;  // none: the copies are the same as the files there
  Missing missing = Missing::kNothing;
  bool was_left = false;  // as was asked for
  bool is_known = false;  // true if code and signal, with which the recorder or the command ended, are known
  int code = 0;
  int signal = 0;                 // that ended it; 0: none
  std::vector<CopiedFile> files;  // in their final places here
  std::string marked;             // the last line with the mark, without it
  std::string recording;          // its name there; empty if there is none, or nothing is left of it
};

WorkOutcome work_on(const WorkSettings& settings);

}  // namespace lanescope::remote
