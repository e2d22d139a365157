// Drives a fuzz target without libFuzzer. Use: PROGRAM COUNT [FILE or FOLDER...]
//
// Runs the target's valid inputs and the files unchanged, and then COUNT mutations of them. The sequence is the same in every run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "change_bytes.h"
#include "fuzz_target.h"

extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

using namespace lanescope;

namespace {

std::mt19937 random_number(1);

void run(const std::string& input) { LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()); }

std::string changed(const std::string& input) {
  if (LLVMFuzzerCustomMutator == nullptr) return fuzz::changed_bytes(input, random_number);
  std::string result = input;
  result.resize(2 * input.size() + 4096);
  result.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(result.data()), input.size(), result.size(), random_number()));
  return result;
}

std::vector<std::string> contents_of(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  std::vector<std::string> contents;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return contents;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  const long count = argc > 1 ? std::atol(argv[1]) : 10'000;
  std::vector<std::string> inputs = valid_inputs();
  for (int i = 2; i < argc; ++i)
    for (std::string& input : contents_of(argv[i])) inputs.push_back(std::move(input));
  for (const std::string& input : inputs) run(input);
  for (long i = 0; i < count; ++i) run(changed(inputs[random_number() % inputs.size()]));
  std::printf("%zu inputs and %ld mutations of them survived\n", inputs.size(), count);
}
