// What agent_inside.cpp does, by construction.
#pragma once

namespace lanescope::test::agent_inside {

inline constexpr int kChurners = 4;    // threads that start others, one after the other
inline constexpr int kThreads = 40;    // of each
inline constexpr int kRanges = 25;     // of each of those, a mark and a call into the C library for each
inline constexpr int kBursts = 2;      // threads that write much
inline constexpr int kBurst = 20'000;  // ranges of each
inline constexpr int kChildren = 20;
inline constexpr int kRangesOfChild = 10;
inline constexpr int kSignals = 200;  // a range for each; none where threads are watched

}  // namespace lanescope::test::agent_inside
