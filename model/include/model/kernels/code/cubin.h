// Code of GPUs as the driver loads it (cubin): an ELF file of functions and, where the compiler was asked for it (-lineinfo), of the source
// lines that their instructions are of.
//
// The line table is DWARF's, with one addition of NVIDIA's compilers: the extended opcode 0x90 says that what follows was inlined, into
// which row of the same sequence, and which function it is of. So whole chains of inlined calls are known without debug information.
//
// A file may come from anywhere: what does not lie within it is left out, and what it takes is bounded by its size.
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
  std::uint32_t section = 0;  // that holds its code
  std::uint64_t offset = 0;   // of its first instruction in that
  std::uint64_t size = 0;     // bytes
  bool is_kernel = false;     // else a function that kernels of the same section call
};

// A place in a source file.
struct SourcePlace {
  std::string_view function;  // mangled; empty: the function whose code it is
  std::string_view file;
  std::uint32_t line = 0;
  std::uint64_t file_bytes = 0;  // of the file when it was compiled; 0: not known
};

// Immutable. Views are valid as long as it.
class Cubin {
 public:
  // Fails with one sentence where the image is no ELF file of a GPU's code. O(bytes).
  [[nodiscard]] static Result<Cubin> read(std::string image);
  Cubin(Cubin&&) noexcept;
  Cubin& operator=(Cubin&&) noexcept;
  ~Cubin();

  [[nodiscard]] const std::vector<CubinFunction>& functions() const noexcept;  // by index
  // Null where there is none. O(log functions); by name O(length).
  [[nodiscard]] const CubinFunction* function(std::uint32_t index) const noexcept;
  [[nodiscard]] const CubinFunction* function(std::string_view mangled) const noexcept;
  // All of it that lies within the file.
  [[nodiscard]] std::span<const std::byte> code(const CubinFunction& function) const noexcept;
  [[nodiscard]] bool has_lines() const noexcept;
  // Where the instruction at so many bytes from the function's begin comes from: innermost first, then where that was inlined, up to 64.
  // Empty where that is not known. O(log rows).
  [[nodiscard]] std::vector<SourcePlace> source(const CubinFunction& function, std::uint64_t pc) const;

 private:
  struct Content;
  explicit Cubin(std::unique_ptr<Content> content) noexcept;
  std::unique_ptr<Content> content_;
};

}  // namespace lanescope::kernels
