#include "base/text/diagnostic_text.h"

#include <array>

#include "base/text/known_sentences.h"
#include "model/text/to_translate.h"

namespace lanescope::ui {
namespace {

constexpr std::array kDiagnostics = {
    to_translate("Kernels and copies that had not ended when the recording did: {count}. They are not shown, for CUPTI has no times of them; their calls "
                 "are. The first kernel: {kernel}."),
    to_translate("Kernels and copies that had not ended when the recording did: {count}. They are not shown, for CUPTI has no times of them; their calls are."),
    to_translate("Kernels and copies of the CUDA graphs that were launched last before recording stopped: {count}. They are not shown, for CUPTI's ends "
                 "of them are those of later launches; their calls are."),
    to_translate("Of {count} of the loaded files no NVTX is recorded: what they were loaded from was cut short or replaced since."),
    to_translate("The NVTX ranges of a library go to another tool, which was there first."),
    to_translate("Rows were left out by choice when this file was saved."),
    to_translate("The NVTX ranges of {count} libraries go to another tool, which was there first."),
    to_translate("NVTX of {count} loaded files is recorded from here on."),
    to_translate("NVTX ranges that libraries make before the agent has seen them, as in their constructors, are missing."),
    to_translate("Libraries that the program loads from here on are not recorded: its seccomp filter would have the kernel end it for the agent's thread."),
    to_translate(
        "Libraries that the program loads are not recorded while one of its threads stays in the loader's list of files (dl_iterate_phdr), as one does "
        "for ever that has left its callback by a jump (longjmp)."),
    to_translate("Libraries that this process loads are not recorded: it was forked while a thread of its parent was in the loader's list of files "
                 "(dl_iterate_phdr)."),
    to_translate("Of {count} of the loaded files no calls into the C library are recorded: what they were loaded from was cut short or replaced since."),
    to_translate("A capture was to begin, and the recorder was not ready for it within 10 s: what the program did from there until it was is missing."),
    to_translate("GPU activity is not recorded: there is no NVIDIA driver in this process."),
    to_translate("GPU activity is not recorded: no libcupti for CUDA {count} was found; install it beside liblanescope-agent.so, or name it in "
                 "LANESCOPE_CUPTI_LIBRARY."),
    to_translate("GPU activity is not recorded: {file} is damaged or was cut short. Install it anew, or name another libcupti in LANESCOPE_CUPTI_LIBRARY."),
    to_translate("GPU activity is not recorded: this libcupti faulted at the first question."),
    to_translate("GPU activity is not recorded: this agent does not know the records of CUPTI version {count}; name another "
                 "libcupti in LANESCOPE_CUPTI_LIBRARY, or update Lanescope."),
    to_translate("GPU activity is not recorded: CUPTI faulted when it was asked to begin. The program runs on."),
    to_translate("GPU activity is not recorded: CUPTI faulted in an earlier recording of this process. Start the program anew to record it."),
    to_translate("GPU activity is not recorded: no NVIDIA driver answers ({reason})."),
    to_translate("GPU activity is not recorded: {cupti} does not fit the driver (CUDA {version}); update the driver, or name another libcupti in "
                 "LANESCOPE_CUPTI_LIBRARY."),
    to_translate("GPU activity is not recorded: the driver does not let this user do that ({reason})."),
    to_translate("GPU activity is not recorded: CUPTI is in use by {who}; switch that off in the target and record again."),
    to_translate("GPU activity is not recorded: the target can't start another thread."),
    to_translate("GPU activity is not recorded: the target has no memory left for buffers."),
    to_translate("GPU activity is not recorded: {call} answered {count} ({reason})."),
    to_translate("GPU activity is not recorded from here on: CUPTI faulted when it was asked for records. The program runs on."),
    to_translate("GPU activity is not recorded from here on: what CUPTI delivered led the agent to memory that can't be used. The program runs on."),
    to_translate("GPU activity at the begin of a capture is missing: CUPTI took more than 2 s to begin."),
    to_translate("GPU activity at the end of the program is missing: CUPTI faulted when it was asked for it. The program goes on to its end."),
    to_translate("GPU activity of {process} is not recorded: CUPTI had not begun when the recording ended. It waits for the CUDA driver's lock, which a "
                 "program whose queue of launches is always full keeps. Attach for longer or once more, or start the program with lanescope profile."),
    to_translate("GPU activity is recorded with {cupti}."),
    to_translate("Records of unified memory are missing: CUPTI told of {count} migrations that followed page faults, and of none of these faults. The driver "
                 "drops records of both while all processors are busy."),
    to_translate("CUDA events are not recorded: {cupti} can't tell when streams come past them."),
    to_translate("NVTX of {count} child processes is not recorded: they were forked while it was set up. Make an NVTX call before the first fork."),
    to_translate("Counters of kernels are not read from here on: there is no room for them, on the disk of the recording's folder (TMPDIR) or by the "
                 "limit of the program's files (ulimit -f)."),
    to_translate("Counters of kernels are not read: the plan of what to count makes no sense to the program's agent."),
    to_translate("Counters of kernels are not read: the program can't write to the recording's folder."),
    to_translate("Counters of kernels are not read on a GPU of chip {chip}: it was not planned for."),
    to_translate("Counters of kernels are not read from here on: CUPTI can't change what it counts any more often in a process. The mode kernel counts "
                 "all in the same launch."),
    to_translate("Counters of kernels are not read from here on: CUPTI faulted when it was asked for them. The program runs on."),
    to_translate("Counters of kernels are not read from here on: a launch that was measured kept others waiting, and may wait for them."),
    to_translate("Counters of kernels are not read from here on: {call} answered {count} ({reason})."),
    to_translate("Counters of kernels are not read: another tool uses them ({reason})."),
    to_translate("Counters of kernels are not read: this CUPTI is older than CUDA 12.6. Name another one in LANESCOPE_CUPTI_LIBRARY."),
    to_translate("Counters of kernels are not read: they are for administrators here ({reason}). Run as root, or allow everyone with: {command}, and a "
                 "restart."),
    to_translate("Counters of kernels were read for {seconds} s, as long as they may be: later launches are not measured. More: {option}"),
    to_translate("Counters of ranges are not read: this CUPTI or this driver can't count them."),
    to_translate("Instructions of kernels are not counted from here on: CUPTI faulted when it was shown their code. The program runs on."),
    to_translate("The kernel {kernel} has run for {count} s now that its counters are read. If it waits for another kernel, or for the program, it never ends: "
                 "end the program, and record it without --kernels=counters (lanescope profile), or leave the kernel out with --kernel-name or count it with "
                 "--replay-mode range (lanescope kernels)."),
    to_translate("PC samples are not recorded from here on: CUPTI faulted when it was asked for them. All else is recorded, and the program runs on."),
    to_translate("PC samples are not recorded: liblanescope-kernels.so can't be loaded from beside the agent. Install Lanescope whole."),
    to_translate("PC samples are not recorded: this libcupti has no PC sampling, or liblanescope-kernels.so is of another version than the agent."),
    to_translate("PC samples are not recorded: the program keeps CUPTI busy."),
    to_translate("PC samples are not recorded of all processes: one at a time can be sampled on a GPU."),
    to_translate("PC samples are not recorded: the driver lets only administrators read the hardware's counters. Record as root, or have the option "
                 "NVreg_RestrictProfilingToAdminUsers=0 set for the module nvidia."),
    to_translate("PC samples are not recorded: another program holds the hardware's counters. Stop DCGM or the other profiler, and record again."),
    to_translate("PC samples of a CUDA context are not recorded from here on: CUPTI answered {count} ({reason})."),
    to_translate("PC samples of a CUDA context from its last moments are lost: it ended while other threads were within calls of CUDA that do not come back."),
    to_translate("PC samples are recorded of the first 64 CUDA contexts of a process alone."),
    to_translate("PC samples are recorded of one CUDA context of a GPU at a time: kernels of the program's other contexts have none."),
    to_translate("PC samples of some kernels have no lines: of the program's GPU code no more than 1 GiB is kept."),
    to_translate("Warps are sampled for {count} ms of each {byte} ms: kernels that run in between alone have no PC samples."),
    to_translate("PC sampling stays on in the program, which runs on: the program is within a call of CUDA that does not come back, and to end sampling "
                 "meanwhile could stop both for good. It ends with the next recording of PC samples, or with the CUDA context."),
    to_translate("Windows of PC samples are put off: the program is within calls of CUDA that do not come back, and to begin or end sampling meanwhile "
                 "could stop both for good. There are windows once it is within none for a moment."),
    to_translate("The program has registered more schemas of NVTX's structured data than there is room for: data of further ones is shown as bytes. "
                 "Register each schema once."),
    to_translate("Calls of MPI are not recorded: the program uses the standard ABI of MPI 5 (libmpi_abi). Run it with Open MPI's or MPICH's own library."),
    to_translate("The program has made more NVTX domains than there is room for: events of further ones are shown in the domain \"(domains without "
                 "room)\". Make a domain once, and name what differs by ranges or categories."),
    to_translate("The program has registered more different NVTX strings than there is room for: what further ones name is shown as \"(registered string "
                 "without room)\". Register texts that come again, and pass others as they are."),
    to_translate("Structured data of NVTX events is shown as bytes: the program said what its fields are before it was attached to, or never. Start it "
                 "with lanescope profile, or with lanescope profile --arm to attach to it later, and fields have their names."),
    to_translate("Thread {count} is not recorded from here on: it asks for seccomp's strict mode, in which it may not look at a clock."),
    to_translate("This Python is a free-threaded build: its threads hold no GIL, but while they load extensions, unless PYTHON_GIL=1 or an extension "
                 "switches it on."),
    to_translate("Who holds Python's GIL is not recorded: that is known of CPython 3.9 to 3.15."),
    to_translate("The agent was brought in by thread {count}, which stood still for {milliseconds} ms meanwhile."),
    to_translate("Of {count} more processes nothing is recorded: they could not be followed."),
    to_translate("this process could not be followed, so nothing is recorded of what it did:"),
    to_translate("this process could not be followed in all that it did:"),
    to_translate("its seccomp filter had the kernel end it (SIGSYS) for a system call of its own: nothing of the recorder's was in it."),
    to_translate("its seccomp filter had the kernel end it (SIGSYS) for a system call, of its own or of the recorder's agent in it. If it does not end so "
                 "alone, record it from outside (-t none)."),
    to_translate(
        "Programs that process {count} starts may be missing, unsaid: the system gives it orphans of other programs as well, which look the same. Where "
        "threads are observed (--sample, --cpuctxsw), each is named."),
    to_translate("Looking up the names of the code that ran; to leave them out, stop the recording again."),
    to_translate("Samples are taken by a clock of the kernel's: this machine lends no counter of its processors' cycles, as virtual machines do not."),
    to_translate("Calls are followed by frame pointers: this machine keeps no record of branches (-b lbr), as virtual machines do not. Whole chains come "
                 "from -b dwarf."),
    to_translate("Only the recorded programs' threads are observed: other processes are not open to this user. Change it: {command}"),
    to_translate("Samples show the programs' own code, not what the kernel does for them. Change it: sudo sysctl kernel.perf_event_paranoid=1"),
    to_translate("Code is known by file and address alone: this build has no libdw. Install libdw-dev and build again."),
    to_translate("Threads are not observed: the kernel does not permit it. Change it: {command}"),
    to_translate("Threads are not observed: this user may open too few files. Change it: ulimit -n 65536"),
    to_translate("Threads are not observed: too little memory may be locked for records. Change it: sudo sysctl kernel.perf_event_mlock_kb=8192"),
    to_translate("Threads are not observed: the system has no thread left that could do it."),
    to_translate("Networks and disks are not sampled: the system has no thread left that could do it."),
    to_translate("There is no network device here whose traffic could be sampled."),
    to_translate("There is no disk here whose traffic could be sampled."),
    to_translate("No more code is named: too many files took too much time or memory."),
    to_translate("There was not enough memory to look up names of code: some of it has none."),
    to_translate("Launches of which counters were read: {count}."),
    to_translate("Launches of which instructions were counted: {count}."),
    to_translate("Ranges of which counters were read: {count}."),
    to_translate("The sampling of GPU metrics ended early: lanescope-gpu-metrics was ended by signal {count}"),
    to_translate("The sampling of GPU metrics ended early: lanescope-gpu-metrics ended with code {count}"),
    to_translate("The times of the metrics of GPU {count} are on a clock of their own: they may be up to 50 ms early or late against everything else."),
    to_translate("Power, temperature, memory in use, clocks and utilization: from NVML, 20 times a second."),
    to_translate("Power, temperature and clocks can't be read: libnvidia-ml.so.1 was not found."),
    to_translate("The performance monitors of GPUs can't be sampled: {reason}"),
    to_translate("The sources are not in the recording: others may read {file}, which can't be changed, and not the sources."),
    to_translate("GPU {count}, {gpu}: {metrics} metrics at {byte} Hz, fetched {way}."),
    to_translate("{count} Python stacks changed while they were read, and were dropped; programs were read {byte} times."),
    to_translate(
        "Metrics of GPU {count} could not be fetched as fast as they were counted, so some samples are missing: choose a lower --gpu-metrics-frequency or "
        "--gpu-metrics-set=light."),
    to_translate("{count} of {byte} Python stacks were read while their threads had no processor, since none was free for reading in time: innermost "
                 "functions that call the system come out too large."),
    to_translate("No Python functions are named: no interpreter was found in the recorded processes. {version} can be read."),
    to_translate("{count} records of threads were lost: they came faster than they could be read. Sample less often (--sampling-frequency), or leave "
                 "switches out (--cpuctxsw=none)."),
    to_translate("{count} system calls are missing: they were under way when records of threads were lost."),
    to_translate("{count} records are missing of processes that had ended before it was known what they are: the records of their begin were lost, or they "
                 "lived too shortly."),
    to_translate("The kernel held samples back {count} times, since they took too much time. Sample less often (--sampling-frequency), or change it: sudo "
                 "sysctl kernel.perf_cpu_time_max_percent=50"),
    to_translate("The code of {count} processes has no names: they ended faster than it could be looked up."),
    to_translate("Process {count} names more code that it makes at run time (/tmp/perf-PID.map) than is taken in: some of it has no name."),
    to_translate("Code has no names: {file} can't be started. Install Lanescope whole, or set LANESCOPE_CODE_NAMES to it."),
    to_translate("Some code of {file} has no names: to find them out took too much time or memory."),
    to_translate("Threads are not observed: the kernel refuses performance events ({reason})."),
    to_translate("There is more to say of this recording, which is left out."),
    to_translate("GPU metrics can't be sampled here: {reason}"),
    to_translate("GPU metrics can't be sampled: {reason}"),
    // Reasons, which may stand alone.
    to_translate("no NVIDIA driver is installed ({file})."),
    to_translate("the NVIDIA driver is too old."),
    to_translate("the NVIDIA driver does not answer (cuInit says {count})."),
    to_translate("this user may open too few files"),
    to_translate("the system has no file descriptors left"),
    to_translate("this kernel has no performance events"),
    to_translate("performance events are forbidden here, as they are in containers"),
    to_translate("the kernel refuses performance events ({reason})"),
    to_translate("no memory may be locked for records"),
};

}  // namespace

Message diagnostic_message(std::string_view text) { return known_parts(text, kDiagnostics, " ", followed_by); }

}  // namespace lanescope::ui
