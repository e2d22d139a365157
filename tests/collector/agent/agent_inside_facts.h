// What agent_inside.cpp does, by construction.
#pragma once

namespace lanescope::test::agent_inside {

inline constexpr int kChurners = 4;    // threads that start others, one after the other
inline constexpr int kThreads = 40;    // started by each
inline constexpr int kRanges = 25;     // in each of those, with a mark and a call into the C library for each
inline constexpr int kBursts = 2;      // threads that write much
inline constexpr int kBurst = 20'000;  // ranges in each
inline constexpr int kChildren = 20;
inline constexpr int kRangesOfChild = 10;
inline constexpr int kSignals = 200;  // with a range for each; none while threads are watched

}  // namespace lanescope::test::agent_inside
