// What a fuzz target gives to the driver: an entry point, and valid inputs to start from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Handles any bytes without a crash, a leak, or unbounded memory or time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Inputs that are valid, so that mutations of them reach deep.
std::vector<std::string> valid_inputs();
