// MPI calls of a program whose messages are known, with each installed MPI.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "../recorder.h"
#include "model/import/open_trace.h"
#include "model/trace/domains/mpi_call.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

struct Library {
  const char* suffix;  // of the names of its mpicc and mpirun
  std::vector<std::string> arguments;
  std::vector<Environment> environment;
  const char* rank_variable;
};
const Library kOpenMpi{".openmpi", {"--oversubscribe"}, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}, "OMPI_COMM_WORLD_RANK"};
const Library kMpich{".mpich", {}, {}, "PMI_RANK"};

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// Builds the program with the library's compiler "mpicc" or "mpifort". Returns false if the library is not installed.
bool build(const Library& library, const std::filesystem::path& folder, const std::string& language, const std::string& program) {
  const std::string compiler = language + library.suffix;
  // The wrapper may be installed without the compiler that it calls.
  if (!runs(compiler + " --version >/dev/null 2>&1") || !runs("command -v mpirun" + std::string(library.suffix) + " >/dev/null 2>&1")) {
    WARN(compiler << " is not installed: not tried");
    return false;
  }
  REQUIRE(runs(compiler + " -w -o " + (folder / "ring").string() + " " LANESCOPE_TEST_PROGRAMS "/" + program + " -ldl"));
  return true;
}
bool build(const Library& library, const std::filesystem::path& folder) { return build(library, folder, "mpicc", "interfaces/mpi_ring.c"); }

// A call as "name rank peer tag bytes root sent received"; "-" stands for a value that it does not have.
std::string text_of(std::string_view name, const MpiCall& call) {
  std::string text(name);
  for (const auto& value : {call.rank, call.peer, call.tag, call.bytes, call.root, call.sent_bytes, call.received_bytes})
    text += value ? " " + std::to_string(*value) : " -";
  return text;
}

std::vector<std::string> recorded(const Trace& trace) {
  std::vector<std::string> calls;
  for (const Track& track : trace.tracks()) {
    if (!holds_mpi_calls(trace, track.key)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const MpiCall call = mpi_call(trace, track.key, lane.detail(i));
        if (call.kind != MpiKind::kOther) calls.push_back(text_of(trace.name(lane.name(i)), call));
      }
    }
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

// What mpi_ring.c does on this rank, derived from its source.
std::vector<std::string> expected(int rank, int size) {
  std::vector<std::string> calls;
  const auto text = [](int value) { return std::to_string(value); };
  const std::string me = " " + text(rank) + " ";
  const std::string next = text((rank + 1) % size) + " ";
  const std::string previous = text((rank + size - 1) % size) + " ";
  const auto add = [&](const std::string& call) { calls.push_back(call); };
  for (int i = 0; i < 3; ++i) {
    add("MPI_Irecv" + me + previous + "7 " + text(1024 * size) + " - - -");
    add("MPI_Send" + me + next + "7 " + text(1024 * (rank + 1)) + " - - -");
    add("MPI_Wait" + me + "- - - - - -");
  }
  add("MPI_Sendrecv" + me + next + "8 64 - - 64");
  for (int i = 0; i < 2; ++i) {
    add("MPI_Irecv" + me + previous + text(9 + i) + " 64 - - -");
    add("MPI_Isend" + me + next + text(9 + i) + " 64 - - -");
  }
  add("MPI_Waitall" + me + "- - - - - -");
  if (rank == size - 1) add("MPI_Send" + me + "0 11 24 - - -");
  if (rank == 0) add("MPI_Recv" + me + text(size - 1) + " 11 24 - - -");  // it received from any source, so the peer is known only afterwards
  add("MPI_Barrier" + me + "- - - - 0 0");
  add("MPI_Bcast" + me + "- - - " + text(size - 1) + (rank == size - 1 ? " 800 0" : " 0 800"));
  add("MPI_Allreduce" + me + "- - - - 800 800");
  add("MPI_Reduce" + me + "- - - 0 800 " + (rank == 0 ? "800" : "0"));
  add("MPI_Gather" + me + "- - - 1 800 " + (rank == 1 ? text(800 * size) : "0"));
  add("MPI_Alltoall" + me + "- - - - 0 " + text(800 * size));
  // In the reversed communicator, rank 0 is the last.
  if (rank == 0) add("MPI_Send" + me + text(size - 1) + " 12 40 - - -");
  if (rank == size - 1) add("MPI_Recv" + me + "0 12 40 - - -");
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<std::string> expected_of_all(int size) {
  std::vector<std::string> calls;
  for (int rank = 0; rank < size; ++rank)
    for (std::string& call : expected(rank, size)) calls.push_back(std::move(call));
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("ranks that mpirun starts are recorded into one file, with peers, tags and bytes") {
  const TemporaryFolder folder;
  const Library& library = GENERATE(kOpenMpi, kMpich);
  if (!build(library, folder.path())) return;
  for (const int size : {2, 4}) {
    CAPTURE(library.suffix, size);
    const Ran ran = run_lanescope(
        folder.path(),
        with(with({"profile", "-t", "mpi", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "all", std::string("mpirun") + library.suffix}, library.arguments),
             {"-n", std::to_string(size), "./ring"}),
        library.environment);
    CAPTURE(ran.messages);
    REQUIRE(ran.code == 0);
    CHECK_THAT(ran.output, !contains_text("wrong status"));
    CHECK(recorded(*load(folder.path() / "all.trace")) == expected_of_all(size));

    // Nsight Systems' tables of MPI contain the same, even without the NVTX ranges beside them.
    REQUIRE(run_lanescope(folder.path(), {"export", "-t", "sqlite", "-f", "--tables", "MPI_.*,StringIds,PROCESSES", "-o", "all.sqlite", "all.trace"}).code ==
            0);
    const auto imported = open_trace(folder.path() / "all.sqlite");
    REQUIRE(imported);
    std::vector<std::string> without_receiving = expected_of_all(size);  // for MPI_Sendrecv, these tables have no column of received bytes
    for (std::string& call : without_receiving)
      if (call.starts_with("MPI_Sendrecv")) call.replace(call.rfind(' '), std::string::npos, " -");
    CHECK(recorded(**imported) == without_receiving);
  }
}

TEST_CASE("calls from Fortran are recorded as those from C are, each once") {
  const TemporaryFolder folder;
  const Library& library = GENERATE(kOpenMpi, kMpich);
  if (!build(library, folder.path(), "mpifort", "interfaces/mpi_pair.f90")) return;
  const Ran ran = run_lanescope(
      folder.path(),
      with(with({"profile", "-t", "mpi", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "all", std::string("mpirun") + library.suffix}, library.arguments),
           {"-n", "2", "./ring"}),
      library.environment);
  CAPTURE(library.suffix, ran.messages);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("last sum 100"));
  CHECK(recorded(*load(folder.path() / "all.trace")) == std::vector<std::string>{"MPI_Allreduce 0 - - - - 200 200", "MPI_Allreduce 1 - - - - 200 200",
                                                                                 "MPI_Barrier 0 - - - - 0 0", "MPI_Barrier 1 - - - - 0 0",
                                                                                 "MPI_Recv 1 0 5 800 - - -", "MPI_Send 0 1 5 800 - - -"});
}

TEST_CASE("a recording for each rank is named after it, and holds its calls alone") {
  const TemporaryFolder folder;
  const Library& library = GENERATE(kOpenMpi, kMpich);
  if (!build(library, folder.path())) return;
  CAPTURE(library.suffix);
  std::string command = "cd " + folder.path().string() + " && ";
  for (const Environment& variable : library.environment) command += variable.name + "=" + variable.value + " ";
  command += "XDG_RUNTIME_DIR=" + folder.path().string() + " mpirun" + library.suffix;
  for (const std::string& argument : library.arguments) command += " " + argument;
  command += " -n 2 " + program("lanescope").string() + " profile -t mpi --mpi-impl=" + (library.suffix + 1) + " -s none --cpuctxsw none -o 'rank%q{" +
             library.rank_variable + "}' ./ring >/dev/null 2>&1";
  REQUIRE(runs(command));
  for (int rank = 0; rank < 2; ++rank) CHECK(recorded(*load(folder.path() / ("rank" + std::to_string(rank) + ".trace"))) == expected(rank, 2));
}

TEST_CASE("a program that speaks MPI's standard ABI runs as alone, and it is said that its calls are not recorded") {
  const TemporaryFolder folder;
  const std::string source = LANESCOPE_TEST_PROGRAMS "/interfaces/mpi_abi.c";
  const std::string place = folder.path().string();
  if (!runs("cc --version >/dev/null 2>&1")) {
    WARN("There is no C compiler to build the program with.");
    return;
  }
  REQUIRE(runs("cc -w -DLIBRARY -shared -fPIC -Wl,-soname,libmpi_abi.so.0 -o " + place + "/libmpi_abi.so.0 " + source));
  REQUIRE(runs("cc -w -o " + place + "/program " + source + " " + place + "/libmpi_abi.so.0 -Wl,-rpath," + place));
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx,mpi", "-s", "none", "--cpuctxsw", "none", "-o", "x", place + "/program"});
  CHECK(ran.code == 0);
  CHECK(ran.output == "send 7 1 of 0x209 to 3, tag 11, in 0x101\nreceive 1 of 0x209 from -1, tag -2, in 0x101, status (nil)\nreceived 42\n");
  CHECK_THAT(ran.messages, contains_text("Calls of MPI are not recorded: the program uses the standard ABI of MPI 5"));
  CHECK(recorded(*load(folder.path() / "x.trace")).empty());
}
