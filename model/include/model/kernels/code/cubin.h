// GPU code as the driver loads it (cubin): an ELF file with functions and, if the compiler was asked for them (-lineinfo), the source lines of their
// instructions.
//
// The line table is DWARF's, with an addition of NVIDIA's compilers: the extended opcode 0x90 says that the following code was inlined, into which row of the
// same sequence, and to which function it belongs. So whole chains of inlined calls are known without debug information.
//
// A file may come from an untrusted source: references outside the file are ignored, and memory and time are bounded by its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::kernels {

inline constexpr std::uint64_t kInstructionBytes = 16;  // since compute capability 7.0

struct CubinFunction {
  std::string_view name;      // mangled
  std::uint32_t index = 0;    // in the symbol table
  std::uint32_t section = 0;  // the section with its code
  std::uint64_t offset = 0;   // of its first instruction in the section
  std::uint64_t size = 0;     // bytes
  bool is_kernel = false;     // else a function that kernels of the same section call
};

// A place in a source file.
struct SourcePlace {
  std::string_view function;  // mangled; empty: the function that contains the code
  std::string_view file;
  std::string_view name;  // of the file: "kernel.cu"; with as much of its path as tells it apart from other files of the code: "inner/kernel.cu"
  std::uint32_t line = 0;
  std::uint64_t file_bytes = 0;  // size of the file when it was compiled; 0: unknown
};

// Immutable. Returned views are valid as long as the Cubin.
class Cubin {
 public:
  // Fails with one sentence if the image is not an ELF file of GPU code. O(bytes).
  [[nodiscard]] static Result<Cubin> read(std::string image);
  Cubin(Cubin&&) noexcept;
  Cubin& operator=(Cubin&&) noexcept;
  ~Cubin();

  [[nodiscard]] const std::vector<CubinFunction>& functions() const noexcept;  // by index
  // Null if there is no such function. O(log functions) by index, O(length) by name.
  [[nodiscard]] const CubinFunction* function(std::uint32_t index) const noexcept;
  [[nodiscard]] const CubinFunction* function(std::string_view mangled) const noexcept;
  // The part of the function's code that lies within the file.
  [[nodiscard]] std::span<const std::byte> code(const CubinFunction& function) const noexcept;
  [[nodiscard]] bool has_lines() const noexcept;
  // The source of the instruction at `pc` bytes from the function's begin: innermost first, then the places where it was inlined, up to 64. Empty if unknown.
  // O(log rows).
  [[nodiscard]] std::vector<SourcePlace> source(const CubinFunction& function, std::uint64_t pc) const;

 private:
  struct Content;
  explicit Cubin(std::unique_ptr<Content> content) noexcept;
  std::unique_ptr<Content> content_;
};

}  // namespace lanescope::kernels
