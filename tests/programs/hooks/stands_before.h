// The answer of functions that intercept those of the C library.
#pragma once

inline constexpr long kAnswer = 4711;
inline constexpr char kNoFile[] = "/no/such/file";
