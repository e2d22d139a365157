// Copies this recorder to another machine that has none, or another version. A copy lies in a folder of the user there that is named by its version and
// content, so several copies can lie side by side.
//
// Threads: any. Of two that copy to one target at once, both send the recorder, and one copy stays.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "collector/remote/remote_work.h"
#include "collector/remote/target.h"

namespace lanescope::remote {

struct RecorderToCopy {
  std::filesystem::path programs;  // the local folder that holds the program lanescope
  std::string version;
};

// Makes a copy, unless there is a whole one, at the user's request. Returns the path of its program on the target. The target compares the SHA-256 of what
// arrives and of each file of it, and the copied program must run there before the copy gets its name. Each file of an earlier copy is compared, too; a copy
// that was changed is replaced. Requires a shell on the target, and tar, gzip and sha256sum on both machines. Reads the whole recorder (some 60 MB) on both; it
// is packed only if it is copied. `tell` receives progress, as in WorkSettings. Fails with one sentence, also when `wish` asks to leave.
Result<std::string> recorder_copied_to(const Target& target, Terminal terminal, const RecorderToCopy& recorder,
                                       const std::function<void(const std::string& sentence)>& tell, const std::function<Wish()>& wish);

// The lanescope that does the work on the other machine.
struct RecorderThere {
  Target target;
  std::string program = "lanescope";  // its name or path there
};

// The words of a command for a shell here that copies a recording which stayed there.
[[nodiscard]] std::vector<std::string> fetch_command(const RecorderThere& there, const std::string& recording);

enum class Preferred {
  kProgramThere,
  kCopy,
};

// Does work_on() with that program, and sets the commands of `settings`. If it is missing there, or too different, or a copy is preferred, an earlier copy of
// `recorder` is used; if there is none either, a new one if `is_copy_wished` returns true. `there.program` then is the path of the copy. If `missing` of the
// outcome is set, no copy was used, and nothing is known against making one.
//
// A connection may cost a password. The program takes one, an earlier copy takes one, and a new copy another one: what looks for a copy, or makes it, becomes
// the copy's lanescope.
WorkOutcome work_by(RecorderThere& there, const RecorderToCopy& recorder, WorkSettings& settings, Preferred preferred,
                    const std::function<bool()>& is_copy_wished);

}  // namespace lanescope::remote
