// Matrix products that run on FP32 units although a GPU's tensor cores could run them: which kernels these are, and the possible gain.
#pragma once

#include <optional>
#include <string_view>

#include "model/trace/trace.h"
#include "model/trace/types.h"

namespace lanescope::kernels {

// True if a kernel of this name, mangled or not, is a matrix product or convolution of cuBLAS, cuDNN or CUTLASS in FP32 without tensor cores. Decides by the
// names of these libraries' kernels: "sgemm", "simt_s", "ffma" and "f32f32_f32f32", "_engine<float" against "tf32", "tensorop", "s1688", ... Products of a
// matrix and a vector (gemv) do not count, because memory bounds them. O(length).
[[nodiscard]] bool is_fp32_product(std::string_view kernel) noexcept;

// The format of a matrix product or convolution of these libraries, by the kernel's name: "FP32", "TF32", "BF16", "FP16", "FP8", "FP64"; "other formats" if
// the name does not say. Nothing for other kernels, including attention, although it multiplies matrices. O(length).
[[nodiscard]] std::optional<std::string_view> product_format(std::string_view kernel) noexcept;

// True if a kernel of this name, mangled or not, multiplies matrices with code of cuBLAS, cuDNN, CUTLASS or FlashAttention (including convolutions and
// attention), in any format. Decides by names that only these libraries use; false for a kernel whose name only says "gemm". O(length).
[[nodiscard]] bool is_library_product(std::string_view kernel) noexcept;

// The number format in which a GPU's tensor cores multiply FP32 matrices with the least loss, among the formats with a gain.
enum class TensorFormat { kTf32, kBf16, kFp16 };
struct TensorCores {
  TensorFormat format;
  double speed;  // dense products of this format per cycle, relative to FP32
  // Upper bound of the gain, as a fraction of the time of a product that is bound by arithmetic.
  [[nodiscard]] double gain() const noexcept { return 1 - 1 / speed; }
};
// By compute capability, from NVIDIA's white papers of the architectures. Nothing if the GPU has no tensor cores, or is unknown.
[[nodiscard]] std::optional<TensorCores> tensor_cores_of(const Gpu& gpu) noexcept;

// How to run FP32 products there; one or two sentences.
[[nodiscard]] std::string_view tensor_core_advice(TensorFormat format) noexcept;

}  // namespace lanescope::kernels
