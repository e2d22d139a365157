// A libcupti without a GPU: the functions that the agent calls, and functions that set what CUPTI has seen. Records are the real structures.
//
// MOCK_CUPTI_SUBSCRIBE: the result of cuptiSubscribe (39: another client, "Another profiler", was first). MOCK_CUPTI_VERSION: its version. MOCK_CUPTI_FAULTS:
// when it faults, with its lock held: when it is first asked for its records, or (last) by force, or when it is asked for its version, or at subscribe.
// MOCK_CUPTI_FAULTS_BY: how it faults, if not by using memory at kNowhere: stack (endless recursion), abort, trap. MOCK_CUPTI_HANGS: it does not return when
// it is asked for its records. MOCK_CUPTI_REFUSES: what it answers with 7: callbacks, buffers, resources, kernels, memory (its usage). MOCK_CUPTI_IS_SLOW: it
// takes 30 ms for each kind of records that it must make. MOCK_CUPTI_WAITS: a file; a subscriber waits until it is gone, as for the driver's lock, and makes
// another file with the suffix ".waiting".
#pragma once

#include <cstdint>

// Delivers `kernels` kernels, with everything that belongs to them (see mock_cupti_facts below), in as many buffers as necessary.
extern "C" void mock_cupti_work(std::uint64_t kernels);
using MockCuptiWork = void (*)(std::uint64_t);

// The effect of cudaProfilerStart (1) and cudaProfilerStop (0) on CUPTI's subscriber.
extern "C" void mock_cupti_profile(std::uint32_t start);
using MockCuptiProfile = void (*)(std::uint32_t);

// The end of cuInit: before it, unified memory can't be configured.
extern "C" void mock_cupti_initialize();
using MockCuptiInitialize = void (*)();

// cudaDeviceReset: the records of the context that were not asked for until now are lost.
extern "C" void mock_cupti_reset();
using MockCuptiReset = void (*)();

// Waits, at most five seconds, until unified memory is recorded. Returns 1 if it is, else 0.
extern "C" int mock_cupti_await_unified_memory();
using MockCuptiAwait = int (*)();

// Delivers what is described at kMemory below.
extern "C" void mock_cupti_memory();
using MockCuptiMemory = void (*)();

// cudaDeviceSynchronize as CUPTI's subscriber sees it; takes two milliseconds.
extern "C" void mock_cupti_wait();
using MockCuptiWait = void (*)();

// Launches a kernel kLongKernel that runs until mock_cupti_end_long_kernel(). As with CUPTI, a buffer with its record is not returned meanwhile unless a
// flush is forced. The record then has no times, and is not returned again.
extern "C" void mock_cupti_begin_long_kernel();
using MockCuptiBeginLongKernel = void (*)();
extern "C" void mock_cupti_end_long_kernel();
// Launches a graph of kGraphKernels kernels twice, with correlation ids kGraphLaunch and the next. The kernels come back once records are no longer asked
// for, and end after that. The kernels of the first launch follow each other; those of the second have starts of their own, and ends of a launch that is not
// recorded.
extern "C" void mock_cupti_launch_graph();
using MockCuptiLaunchGraph = void (*)();
using MockCuptiEndLongKernel = void (*)();

// Delivers a kernel whose name is at kNowhere.
extern "C" void mock_cupti_deliver_unreadable();
using MockCuptiDeliverUnreadable = void (*)();

// Creates a context, loads a module of kImage into it, makes three rounds of PC samples, creates and ends another context of the same GPU, unloads the
// module, and ends the context. MOCK_CUPTI_PC_SAMPLING: the result of cuptiPCSamplingEnable. MOCK_CUPTI_PC_FULL: the hardware's buffer is full.
// MOCK_CUPTI_PC_FAULTS: it faults when it is asked for samples.
extern "C" void mock_cupti_sample();
using MockCuptiSample = void (*)();
// Makes one round of samples. Returns 1 if a context is sampled and, if it has windows, this is in one of them; otherwise no samples are made.
extern "C" int mock_cupti_make_samples();
using MockCuptiMakeSamples = int (*)();

// Starts (1) or stops (0) launches of kernels of kImage, one after the other, on a thread of their own. As on an H200, PC sampling can't be ended meanwhile:
// the call that ends it waits for a break of 20 ms between two launches, and answers 999 after a minute. Its windows do not start or end either.
extern "C" void mock_cupti_launch(std::uint32_t start);
using MockCuptiLaunch = void (*)(std::uint32_t);
extern "C" std::int64_t mock_cupti_last_launch();  // ns of the steady clock; 0: none

// Waits, at most five seconds, until it is about to fault. Returns 1 if it is, else 0.
extern "C" int mock_cupti_await_fault();

// How much is asked of it: subscribers, callbacks, kinds of records.
extern "C" std::uint64_t mock_cupti_asked();
using MockCuptiAsked = std::uint64_t (*)();

namespace lanescope::test::mock_cupti {

inline constexpr std::uint64_t kNowhere = 16;
inline constexpr std::uint32_t kGraphKernels = 3;
inline constexpr std::uint32_t kGraphLaunch = 2'000'000;  // its correlation id
inline constexpr const char* kLongKernel = "_Z10persistentv";

// Kernel i of n: stream 7 + i % 4, name i % 3; it starts 1,000 ns after the one before and takes 500 + i % 100 ns. It is launched by thread 40 + i / 1000 % 2
// with correlation id i + 1. Its launch is an API call that started 200 ns before and took 150 ns.
inline constexpr std::uint32_t kDevice = 0;
inline constexpr std::uint32_t kContext = 1;
inline constexpr std::uint32_t kStreams = 4;
inline constexpr std::uint32_t kFirstStream = 7;
inline constexpr std::uint32_t kThreads = 2;
inline constexpr std::uint32_t kFirstThread = 40;
inline constexpr const char* kNames[] = {"_Z4axpyPfif", "_Z4spinx", "_Z6reducePKfPf"};
inline constexpr std::uint64_t kCopyEvery = 10;   // a copy of 1024 * i bytes follows the kernel
inline constexpr std::uint64_t kSetEvery = 50;    // a set of 256 bytes to 0xab
inline constexpr std::uint64_t kWaitEvery = 100;  // a stream synchronization
inline constexpr std::uint64_t kInvalid = 3;      // records that end before they start, at the end
inline constexpr std::uint64_t kUnfinished = 2;   // kernels that still run, delivered only by a forced flush

// A round of PC samples: at kSampledPc of the function kSampledFunction, and at its start (kSelected).
inline constexpr const char kImage[] = "code of a GPU, or what stands for it here";
inline constexpr std::uint32_t kSampledFunction = 3;
inline constexpr std::uint64_t kSampledPc = 0x40;
inline constexpr std::uint32_t kLongScoreboard = 7;
inline constexpr std::uint32_t kLongScoreboardNotIssued = 5;  // of these
inline constexpr std::uint32_t kWait = 2;
inline constexpr std::uint32_t kSelected = 4;
inline constexpr std::uint32_t kDroppedSamples = 1;
inline constexpr std::uint32_t kOtherSamples = 6;
inline constexpr std::uint32_t kRounds = 3;
inline constexpr std::uint32_t kPeriod = 20;

// mock_cupti_memory(): kMemory is allocated twice, at kAddress and after it, on no stream; the first allocation is released. A pool is made at kPool and
// gives kPoolMemory on the first stream. 64 KiB of unified memory move to the device because a kernel touched them: two GPU faults at kManaged, and one of
// the CPU. Event 3 is recorded on the first stream, and the second stream waits for it.
inline constexpr std::uint64_t kMemory = 1 << 20;
inline constexpr std::uint64_t kAddress = 0x7f00'0000'0000;
inline constexpr std::uint64_t kPool = 0x55aa'0000'1000;
inline constexpr std::uint64_t kPoolMemory = 4096;
inline constexpr std::uint64_t kPoolSize = 32u << 20;
inline constexpr std::uint64_t kManaged = 0x7e00'0000'0000;
inline constexpr std::uint32_t kEvent = 3;
inline constexpr std::uint64_t kEventRecord = 12;
inline constexpr std::uint32_t kEventCall = 91;  // correlation id of the call that records it

// Things that a program would name: the event, the context, and a stream, which is the second one.
inline const void* const kEventHandle = reinterpret_cast<const void*>(0x11);
inline const void* const kContextHandle = reinterpret_cast<const void*>(0x22);
inline const void* const kStreamHandle = reinterpret_cast<const void*>(0x33);

}  // namespace lanescope::test::mock_cupti
