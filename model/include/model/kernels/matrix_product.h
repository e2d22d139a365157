// Matrix products that run on FP32 units though a GPU's tensor cores could take them: which kernels these are, and what it could win.
#pragma once

#include <optional>
#include <string_view>

#include "model/trace/trace.h"
#include "model/trace/types.h"

namespace lanescope::kernels {

// Whether a kernel of this name, mangled or not, is a matrix product or convolution of cuBLAS, cuDNN or CUTLASS that multiplies in FP32 without
// tensor cores. By what these libraries name their kernels: "sgemm", "simt_s", "ffma" and "f32f32_f32f32", "_engine<float" against "tf32", "tensorop", "s1688",
// ... Products of a matrix and a vector (gemv) are none: memory bounds them. O(length).
[[nodiscard]] bool is_fp32_product(std::string_view kernel) noexcept;

// Whether a kernel of this name is a matrix product or convolution of these libraries, in whatever format, and in which: "FP32", "TF32", "BF16", "FP16", "FP8",
// "FP64"; "other formats" where its name does not say. None of another kernel; attention, which multiplies as well, is one. O(length).
[[nodiscard]] std::optional<std::string_view> product_format(std::string_view kernel) noexcept;

// Whether a kernel of this name, mangled or not, multiplies matrices with code of cuBLAS, cuDNN, CUTLASS or FlashAttention (convolutions and attention among
// them), whatever the format. By names that nobody else's kernels have; of one that only says "gemm" that is not known. O(length).
[[nodiscard]] bool is_library_product(std::string_view kernel) noexcept;

// The format of numbers in which a GPU's tensor cores take matrices of FP32 with the least loss, of those that win anything.
enum class TensorFormat { kTf32, kBf16, kFp16 };
struct TensorCores {
  TensorFormat format;
  double speed;  // dense products of this format a cycle, for one of FP32
  // Of the time of a product that arithmetic bounds, the part that it could win at most.
  [[nodiscard]] double gain() const noexcept { return 1 - 1 / speed; }
};
// By compute capability, as NVIDIA's white papers of the architectures have it; none where the GPU has no tensor cores, or is not known.
[[nodiscard]] std::optional<TensorCores> tensor_cores_of(const Gpu& gpu) noexcept;

// What to do to have products of FP32 run there; one or two sentences.
[[nodiscard]] std::string_view tensor_core_advice(TensorFormat format) noexcept;

}  // namespace lanescope::kernels
