// What a fuzz target gives to its driver: libFuzzer with Clang, replay.cpp elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Handles any bytes without a crash, a leak, or unbounded memory or time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Changes an input in place into another of at most `most` bytes, and returns its size: for inputs with a structure that bytes changed at
// random would break. Optional.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);

// Changes bytes at random. The driver's.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Inputs that are valid, so that mutations of them reach deep.
std::vector<std::string> valid_inputs();
