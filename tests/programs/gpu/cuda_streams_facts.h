// The numbers of what cuda_streams.cu does: the program uses them, and tests compare recordings with them.
#pragma once

#include <cstddef>

namespace lanescope::programs::cuda_streams {

inline constexpr int kStreams = 4;              // made by the program, besides the default stream
inline constexpr int kThreads = 2;              // each drives two of the streams
inline constexpr int kDefaultLaunches = 2'000;  // of `scale`, over all streams, unless another number is given
inline constexpr int kBlocks = 8;               // grid of `scale`
inline constexpr int kThreadsPerBlock = 64;     // block of `scale`
inline constexpr int kBigBlocks = 32;           // grid of `reduce`, launched once a stream
inline constexpr int kBigThreadsPerBlock = 128;
inline constexpr std::size_t kReduceSharedBytes = 128 * sizeof(float);  // dynamic

inline constexpr int kPinnedCopies = 3;  // host to device and back again, each, on every stream
inline constexpr std::size_t kPinnedBytes = 1u << 20;
inline constexpr int kPageableCopies = 2;  // host to device and back again, each, on the default stream
inline constexpr std::size_t kPageableBytes = 3u << 20;
inline constexpr int kDeviceCopies = 1;  // device to device, on every stream
inline constexpr int kSets = 2;          // on every stream
inline constexpr std::size_t kSetBytes = 512u << 10;
inline constexpr int kSetValue = 0x5a;

}  // namespace lanescope::programs::cuda_streams
