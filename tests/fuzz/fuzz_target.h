// What a fuzz target provides to its driver: libFuzzer with Clang, replay.cpp otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Must handle any bytes without a crash, a leak, or unbounded memory or time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Changes an input in place into another of at most `most` bytes, and returns its size. For inputs whose structure would break by random changes of bytes.
// Optional.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);

// Changes bytes at random. Provided by the driver.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Inputs that are valid, so that their mutations reach deep.
std::vector<std::string> valid_inputs();
