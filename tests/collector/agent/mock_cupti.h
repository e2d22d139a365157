// A libcupti without a GPU: the functions that the agent calls, and a way to say what CUPTI is to have seen. Records are the real
// structures.
//
// MOCK_CUPTI_SUBSCRIBE: what cuptiSubscribe answers (39: somebody called "Another profiler" was first). MOCK_CUPTI_VERSION: its version.
// MOCK_CUPTI_FAULTS: it faults, with its lock held, when it is first asked for what it has, or (last) by force, or when it is asked for its
// version, or at subscribe. MOCK_CUPTI_FAULTS_BY: how, if not by using memory at kNowhere: stack (it has no end), abort, trap.
// MOCK_CUPTI_HANGS: it does not come back when it is asked for what it has. MOCK_CUPTI_REFUSES: what it answers with 7: callbacks, buffers,
// resources, kernels, memory (its usage). MOCK_CUPTI_IS_SLOW: it takes 30 ms for each kind of records that it is to make.
// MOCK_CUPTI_WAITS: a file; who subscribes waits until it is gone, as for the driver's lock, and makes another, called as it and ".waiting".
#pragma once

#include <cstdint>

// Delivers `kernels` kernels, with everything that goes with them (see mock_cupti_facts below), through as many buffers as it takes.
extern "C" void mock_cupti_work(std::uint64_t kernels);
using MockCuptiWork = void (*)(std::uint64_t);

// What cudaProfilerStart (1) and cudaProfilerStop (0) are to CUPTI's subscriber.
extern "C" void mock_cupti_profile(std::uint32_t start);
using MockCuptiProfile = void (*)(std::uint32_t);

// The end of cuInit: before it, unified memory can't be configured.
extern "C" void mock_cupti_initialize();
using MockCuptiInitialize = void (*)();

// cudaDeviceReset: the records of the context that were not asked for by now are lost.
extern "C" void mock_cupti_reset();
using MockCuptiReset = void (*)();

// Waits, five seconds at most, until unified memory is recorded. Returns whether it is.
extern "C" int mock_cupti_await_unified_memory();
using MockCuptiAwait = int (*)();

// Delivers what follows kMemory below.
extern "C" void mock_cupti_memory();
using MockCuptiMemory = void (*)();

// cudaDeviceSynchronize as CUPTI's subscriber sees it; takes two milliseconds.
extern "C" void mock_cupti_wait();
using MockCuptiWait = void (*)();

// The launch of a kernel kLongKernel that runs until mock_cupti_end_long_kernel(). As with CUPTI, a buffer with its record comes back to
// nobody meanwhile unless a flush is forced, which has it without times, and never again.
extern "C" void mock_cupti_begin_long_kernel();
using MockCuptiBeginLongKernel = void (*)();
extern "C" void mock_cupti_end_long_kernel();
// Two launches of a graph of kGraphKernels kernels, kGraphLaunch and the next, that come back once records are asked for no more. All end after that.
// The kernels of the first follow each other; those of the second have starts of their own, and ends of a launch that is not recorded.
extern "C" void mock_cupti_launch_graph();
using MockCuptiLaunchGraph = void (*)();
using MockCuptiEndLongKernel = void (*)();

// A kernel whose name lies at kNowhere.
extern "C" void mock_cupti_deliver_unreadable();
using MockCuptiDeliverUnreadable = void (*)();

// A context is created, a module of kImage loaded into it, three rounds of PC samples made, another context of the same GPU created and
// ended, the module unloaded, and the context ended. MOCK_CUPTI_PC_SAMPLING: what cuptiPCSamplingEnable answers. MOCK_CUPTI_PC_FULL: the
// hardware's buffer is full. MOCK_CUPTI_PC_FAULTS: it faults when it is asked for samples.
extern "C" void mock_cupti_sample();
using MockCuptiSample = void (*)();
// One round. Returns whether a context is sampled, and this is in a window of that where it has windows; there is none otherwise.
extern "C" int mock_cupti_make_samples();
using MockCuptiMakeSamples = int (*)();

// Launches of kernels of kImage on a thread of its own, one after the other, from 1, behind which there was one, to 0. As on an H200, PC sampling does not end
// meanwhile: the call that ends it waits for a break of 20 ms between two of them, and answers 999 after a minute. Nor does a window of it begin or end.
extern "C" void mock_cupti_launch(std::uint32_t start);
using MockCuptiLaunch = void (*)(std::uint32_t);
extern "C" std::int64_t mock_cupti_last_launch();  // ns of the steady clock; 0: none

// Waits, five seconds at most, until it is about to fault. Returns whether it is.
extern "C" int mock_cupti_await_fault();

// How much is asked of it: subscribers, callbacks, kinds of records.
extern "C" std::uint64_t mock_cupti_asked();
using MockCuptiAsked = std::uint64_t (*)();

namespace lanescope::test::mock_cupti {

inline constexpr std::uint64_t kNowhere = 16;
inline constexpr std::uint32_t kGraphKernels = 3;
inline constexpr std::uint32_t kGraphLaunch = 2'000'000;  // its correlation id
inline constexpr const char* kLongKernel = "_Z10persistentv";

// Kernel i of n: stream 7 + i % 4, name i % 3, starts 1,000 ns after the one before and takes 500 + i % 100 ns; launched by thread
// 40 + i / 1000 % 2 with correlation id i + 1. Its launch is an API call that began 200 ns before and took 150 ns.
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
inline constexpr std::uint64_t kInvalid = 3;      // records that end before they begin, at the end
inline constexpr std::uint64_t kUnfinished = 2;   // kernels that still run, delivered by a forced flush alone

// A round of PC samples: at kSampledPc of the function kSampledFunction, and at its begin (kSelected).
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

// mock_cupti_memory(): kMemory is allocated twice, at kAddress and behind it, on no stream; the first is released. A pool at kPool comes to
// be and gives kPoolMemory on the first stream. 64 KiB of unified memory move to the device because a kernel touched them: two GPU faults
// at kManaged, and one of the CPU. Event 3 is recorded on the first stream, and the second stream waits for that.
inline constexpr std::uint64_t kMemory = 1 << 20;
inline constexpr std::uint64_t kAddress = 0x7f00'0000'0000;
inline constexpr std::uint64_t kPool = 0x55aa'0000'1000;
inline constexpr std::uint64_t kPoolMemory = 4096;
inline constexpr std::uint64_t kPoolSize = 32u << 20;
inline constexpr std::uint64_t kManaged = 0x7e00'0000'0000;
inline constexpr std::uint32_t kEvent = 3;
inline constexpr std::uint64_t kEventRecord = 12;
inline constexpr std::uint32_t kEventCall = 91;  // correlation id of the call that records it

// What a program would name: the event, the context, and a stream, which is the second one.
inline const void* const kEventHandle = reinterpret_cast<const void*>(0x11);
inline const void* const kContextHandle = reinterpret_cast<const void*>(0x22);
inline const void* const kStreamHandle = reinterpret_cast<const void*>(0x33);

}  // namespace lanescope::test::mock_cupti
