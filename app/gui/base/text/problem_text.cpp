#include "base/text/problem_text.h"

#include <array>

#include "base/text/known_sentences.h"
#include "model/text/to_translate.h"

namespace lanescope::ui {
namespace {

constexpr std::array kProblems = {
    to_translate("The agent {file} is not there. Install Lanescope whole, or set LANESCOPE_AGENT to the file."),
    to_translate("The agent {file} does not exist."),
    to_translate("The agent can't be looked for: /proc is not mounted, where the kernel says where this program lies. Mount it with: {command}"),
    to_translate("There is no program to run."),
    to_translate("There is nothing to record: of a process that nothing is traced of, record samples or states of threads, or metrics."),
    to_translate("There is no process {count}."),
    to_translate("There is no user {name} on this machine."),
    to_translate("Only root may start a program as another user. Run: {command}"),
    to_translate("Can't start {program}: there is no such program. Check its name and PATH."),
    to_translate("Can't start {program}: the interpreter or loader that it names is not there. Install it, or correct its first line."),
    to_translate("Can't start {program}: it is a folder. Name a program."),
    to_translate("Can't start {program}: it is not executable. Allow it with: {command}"),
    to_translate("Can't start {program} in {folder}: there is no such folder."),
    to_translate("Can't record {program} as {name}, who may not read {file}. Install Lanescope where all users can read it."),
    to_translate("The program can't be recorded: the system has no file descriptors left. Close other programs and try again."),
    to_translate("The program can't be recorded: the system or this container has no processes left. Close other programs and try again."),
    to_translate("The program can't be recorded: the system has not enough memory left. Close other programs and try again."),
    to_translate("The program can't be recorded: this user may have {count} processes and threads, which are in use. Allow more (ulimit -u), or close other "
                 "programs."),
    to_translate("The program can't be recorded: this process may have {count} KiB of data, which is too little. Allow more (ulimit -d) and record again."),
    to_translate(
        "The program can't be recorded: this process may have {count} KiB of addresses, which is too little. Allow more (ulimit -v) and record again."),
    to_translate("The program can't be recorded: this process may have {count} files open, which is too few. Allow more (ulimit -n) and record again."),
    to_translate("The program can't be recorded: {reason}"),
    to_translate("Can't create {file}: {reason}. Go to a folder that is there, or give its whole path with -o."),
    to_translate("Can't start {program} in {folder}: {reason}"),
    to_translate("Can't start {program}: {reason}"),
    to_translate("Can't attach to {process}: {reason}"),
};

}  // namespace

Message problem_message(std::string_view text) { return known_parts(text, kProblems, " ", followed_by); }

}  // namespace lanescope::ui
