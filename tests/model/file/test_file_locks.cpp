// Files that several recordings write at the same time, on file systems with different locks. This program has its own flock, which can behave like that of
// NFS: a file that is open only for reading gets no lock for writing (flock(2), NFS details).
#include <cerrno>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

enum class Locks { kLocal, kNfs, kNone } locks = Locks::kLocal;
int refusal = ENOLCK;  // error of kNone

std::vector<std::byte> events() {
  std::vector<std::byte> frames;
  FrameHeader header;
  header.type = proto::FRAME_EVENTS;
  header.event_count = 1;
  append_frame(header, "1", frames);
  return frames;
}

}  // namespace

extern "C" int flock(int descriptor, int operation) noexcept {
  const bool only_reads = (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
  if (locks == Locks::kNfs && (operation & LOCK_EX) != 0 && only_reads) return errno = EBADF, -1;
  if (locks == Locks::kNone) return errno = refusal, -1;
  return static_cast<int>(syscall(SYS_flock, descriptor, operation));
}

TEST_CASE("one name is recorded into by one recording at a time, also on NFS") {
  const auto kind = GENERATE(Locks::kLocal, Locks::kNfs);
  const bool is_there = GENERATE(false, true);
  CAPTURE(kind, is_there);
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "run.trace";
  if (is_there) std::ofstream(path) << "old";
  locks = kind;
  {
    auto first = TraceFileWriter::create(path, Overwrite::kAllow);
    REQUIRE(first);
    if (!is_there) CHECK(TraceFileWriter::is_being_written(path));
    CHECK_FALSE(TraceFileWriter::create(path, Overwrite::kAllow));
    REQUIRE(first->append(events()));
    CHECK(TraceFileWriter::is_being_written(path));
    CHECK_FALSE(TraceFileWriter::create(path, Overwrite::kAllow));
    REQUIRE(first->finish());
  }
  CHECK_FALSE(TraceFileWriter::is_being_written(path));
  CHECK(TraceFileWriter::create(path, Overwrite::kAllow));
  locks = Locks::kLocal;
}

TEST_CASE("who gets no locks keeps nobody out, and is kept out by nobody") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "run.trace";
  locks = Locks::kNone;
  refusal = GENERATE(ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL, EPERM, EACCES, EIO);  // some are of file systems, some of filters of system calls
  CAPTURE(refusal);
  auto first = TraceFileWriter::create(path, Overwrite::kAllow);
  REQUIRE(first);
  REQUIRE(first->append(events()));
  CHECK_FALSE(TraceFileWriter::is_being_written(path));
  CHECK(TraceFileWriter::create(path, Overwrite::kAllow));
  locks = Locks::kLocal;
}
