// Work on another machine: a recording that is started, or goes on, there and is copied here; a file that is copied; a command.
//
// A recording there depends on nothing here. The link may break at any byte and is made again, with pauses that grow; copies go on where
// they were, and in the end they are the same as the files there, byte for byte, or that they are not is said. What comes from there is
// treated as bytes of a hostile file are: within limits, and never as a path.
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

// What is to be done there.
struct NewRecording {
  std::string command;  // profile, launch or attach
  std::vector<std::string> options;
  std::vector<std::string> operands;  // the program with its arguments, or the process
  std::string folder;                 // in which it runs; empty: where a command of this user begins
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
  std::chrono::milliseconds greeting{60'000};  // until the other side says that it is there: somebody may have to type a password
  std::chrono::milliseconds silence{30'000};
  std::chrono::milliseconds first_pause{1'000};  // before a broken link is made again; each further one is twice as long
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::milliseconds without_link{600'000};  // then it is given up
};

enum class Wish { kGoOn, kStop, kLeave };  // kStop: the recording there shall end; kLeave: it may go on without us
enum class TextStream { kOutput, kMessages };

// What became of what was printed.
struct Reading {
  std::uint64_t waits = 0;  // bytes that nobody has taken yet
  bool has_left = false;    // nobody reads it any more
};

struct WorkSettings {
  std::string target;                // as the user named it
  std::vector<std::string> command;  // that leads to the other side
  Terminal terminal = Terminal::kNone;
  std::string version;  // of lanescope here
  Task task;
  Overwrite overwrite = Overwrite::kRefuse;
  Patience patience;
  // Called while it works:
  std::function<Result<std::filesystem::path>(std::size_t number)> place;  // of the number-th file, from 1
  std::function<void(TextStream stream, std::string_view bytes)> print;    // what a recorder, its program, or a command printed there
  // Asked often, of a new recording: a program whose output is taken slowly waits there, and the writes of one whose reader has left fail. Where there is
  // none, all that was printed counts as taken.
  std::function<Reading(TextStream stream)> reading;
  std::function<void(const std::string& sentence)> tell;
  std::function<bool()> keeps_recording = [] { return false; };                              // asked once all is here: whether it stays there nonetheless
  std::function<Wish()> wish = [] { return Wish::kGoOn; };                                   // some twenty times a second
  std::function<int()> stop_signal = [] { return 0; };                                       // by which kStop is wished; 0: Ctrl+C
  std::function<std::optional<int>()> signal = [] { return std::nullopt; };                  // the next that came for the program there, of passes_on()
  std::function<void(std::chrono::milliseconds)> behind = [](std::chrono::milliseconds) {};  // of copies: what is here, to what is there
};

struct CopiedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

// What is missing on the other side, where that is why it failed.
enum class Missing { kNothing, kProgram, kProtocol };

struct WorkOutcome {
  std::optional<Error> failure;  // none: the copies are the same as the files there
  Missing missing = Missing::kNothing;
  bool was_left = false;  // as was wished
  bool is_known = false;  // how the recorder, or the command, ended:
  int code = 0;
  int signal = 0;                 // that ended it; 0: none
  std::vector<CopiedFile> files;  // in their places here
  std::string recording;          // its name there; empty where there is none, or nothing is left of it
};

WorkOutcome work_on(const WorkSettings& settings);

}  // namespace lanescope::remote
