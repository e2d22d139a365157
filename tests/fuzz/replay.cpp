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

#include "fuzz_target.h"

extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace {

std::mt19937 random_number(1);

std::string mutated(std::string input) {
  std::mt19937& random = random_number;
  const auto position = [&] { return input.empty() ? 0 : random() % input.size(); };
  for (unsigned changes = 1 + random() % 6; changes > 0; --changes) {
    switch (random() % 6) {
      case 0:
        input.resize(position());
        break;
      case 1:
        if (!input.empty()) input[position()] = static_cast<char>(random());
        break;
      case 2:
        if (!input.empty()) input[position()] ^= static_cast<char>(1u << random() % 8);
        break;
      case 3:
        input.insert(position(), std::string(1 + random() % 9, static_cast<char>(random())));
        break;
      case 4:
        if (const std::size_t at = position(); at + 4 <= input.size()) input.replace(at, 4, 4, static_cast<char>(random() % 2 ? 0xff : 0x00));
        break;
      case 5:
        if (const std::size_t at = position(); at < input.size()) input.insert(position(), input.substr(at, random() % 200));
        break;
    }
  }
  return input;
}

void run(const std::string& input) { LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()); }

std::string changed(const std::string& input) {
  if (LLVMFuzzerCustomMutator == nullptr) return mutated(input);
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

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  const std::string result = mutated({reinterpret_cast<const char*>(data), size});
  const std::size_t kept = std::min(result.size(), most);
  std::memcpy(data, result.data(), kept);
  return kept;
}

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
