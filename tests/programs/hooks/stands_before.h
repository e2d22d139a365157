// What functions answer that stand before those of the C library.
#pragma once

inline constexpr long kAnswer = 4711;
inline constexpr char kNoFile[] = "/no/such/file";
