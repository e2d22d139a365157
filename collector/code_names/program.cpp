// lanescope-code-names: finds names of code, and Python's interpreter in files of code, for a recorder that should not read other users' files itself.
//
// Files of programs may be crafted to attack their reader. So they are read in a process that has no rights even if the recorder has all, and that
// the recorder kills if it takes too much time or memory. Its standard input is a socket (messages.h); the process ends with it.
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <unordered_map>

#include "code_names/program.h"
#include "file_names.h"
#include "messages.h"
#include "python/interpreter_message.h"

namespace {

using namespace lanescope::code_names;
using lanescope::channel::FileDescriptor;

constexpr int kSocket = STDIN_FILENO;
constexpr unsigned kLongestWork = 21;  // s for one answer, in case the recorder does not wait for it: then nobody else ends this process

// Gives up all rights that it was started with.
bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0;
}

// If memory is short, as in a small control group, the kernel should kill this process instead of the recorder or the recorded program: they can go
// on without names.
void go_first() {
  const FileDescriptor file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  static_cast<void>(!write(file.get(), "1000", 4));
}

// Gives up what is never needed. The recorder watches the memory use from outside, where the used parts of mapped files are visible; the limit here
// covers the time between two looks. It includes files that are mapped writable, so it leaves room for large ones.
void give_up_rights() {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (const auto resource : {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_MEMLOCK}) {
    constexpr rlimit kNothing{0, 0};
    setrlimit(resource, &kNothing);
  }
  constexpr rlimit kMostData{std::uint64_t{4} << 30, std::uint64_t{4} << 30};
  setrlimit(RLIMIT_DATA, &kMostData);
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, 0, kNice);  // recorded programs come first
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &others, nullptr);  // signals of the terminal are for the program
}

struct Message {
  Request request;
  std::string path;
  FileDescriptor file;
};

// Returns false at the end of input, or if a message is invalid.
bool receive(Message& message) {
  std::array<char, kMaximumPath> path;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  std::array<iovec, 2> parts{iovec{&message.request, sizeof(message.request)}, iovec{path.data(), path.size()}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t size = 0;
  do size = recvmsg(kSocket, &header, MSG_CMSG_CLOEXEC);
  while (size < 0 && errno == EINTR);
  if (size < static_cast<ssize_t>(sizeof(message.request))) return false;
  message.path.assign(path.data(), static_cast<std::size_t>(size) - sizeof(message.request));
  message.file = FileDescriptor();
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return true;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(rights), sizeof(descriptor));
  message.file = FileDescriptor(descriptor);
  return true;
}

bool answer(std::span<const std::byte> bytes) { return send(kSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0; }

}  // namespace

int lanescope::code_names::program(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("lanescope-code-names is started by lanescope.\n", stderr);
    return 2;
  }
  go_first();  // while this process still owns the file
  if (argv[2] == kAsNobody && !become_nobody()) return 1;
  give_up_rights();
  std::string debug_folders = std::string(":.debug:/usr/lib/debug") + (*argv[1] != '\0' ? ":" : "") + argv[1];
  std::unordered_map<std::uint32_t, std::unique_ptr<FileNames>> files;
  for (Message message; receive(message); alarm(0)) {
    alarm(kLongestWork);
    if (message.request.kind == RequestKind::kOpen) {
      files[message.request.file] = std::make_unique<FileNames>(message.path, std::move(message.file), debug_folders);
      constexpr std::byte kDone{0};
      if (!answer({&kDone, 1})) break;
      continue;
    }
    if (message.request.kind == RequestKind::kInterpreter) {
      const python::InterpreterMessage said = python::packed(python::read_interpreter_file(message.file.get()));
      if (!answer(std::as_bytes(std::span(&said, 1)))) break;
      continue;
    }
    const auto file = files.find(message.request.file);
    if (!answer(packed(file == files.end() ? std::vector<CodeName>() : file->second->find(message.request.address)))) break;
  }
  return 0;
}
