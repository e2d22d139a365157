#include "model/kernels/matrix_product.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace lanescope::kernels {
namespace {

bool has(std::string_view text, std::string_view part) noexcept {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; }) !=
         text.end();
}
template <std::size_t count>
bool has_any(std::string_view text, const std::array<std::string_view, count>& parts) noexcept {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) { return has(text, part); });
}

constexpr std::array<std::string_view, 6> kProducts{"gemm", "fprop", "dgrad", "wgrad", "convolve", "scudnn"};
// cuDNN's gradients of convolutions have their type as the first template argument, readable or mangled.
constexpr std::array<std::string_view, 7> kFp32{"sgemm", "simt_s", "_ffma", "f32f32_f32f32", "scudnn", "_engine<float", "_engineif"};
constexpr std::array<std::string_view, 9> kTensor{"tensorop", "tf32", "bf16", "s884", "s1688", "s16816", "hmma", "gmma", "fp16"};

// Attention kernels of PyTorch and FlashAttention contain CUTLASS' products in their template arguments.
constexpr std::array<std::string_view, 3> kAttention{"attention", "fmha", "flash"};
// Parts of names that tell the input format; the first match counts. For TF32, CUTLASS and Ampere's cuBLAS only say that tensor cores take FP32.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kFormats{{{"tf32", "TF32"},
                                                                                  {"bf16", "BF16"},
                                                                                  {"e4m3", "FP8"},
                                                                                  {"e5m2", "FP8"},
                                                                                  {"fp16", "FP16"},
                                                                                  {"f16f16", "FP16"},
                                                                                  {"hgemm", "FP16"},
                                                                                  {"h884", "FP16"},
                                                                                  {"h1688", "FP16"},
                                                                                  {"h16816", "FP16"},
                                                                                  {"dgemm", "FP64"},
                                                                                  {"tensorop_s1688gemm", "TF32"}}};

// Names of cuBLAS for Hopper and newer: "nvjet_" or "nvjet_sm90_", and a letter for the format of each matrix and of the sum.
constexpr std::string_view kNvjet = "nvjet_";
constexpr std::array<std::pair<char, std::string_view>, 3> kNvjetFormats{{{'t', "BF16"}, {'h', "FP16"}, {'q', "FP8"}}};

constexpr std::array<std::string_view, 18> kLibraries{"nvjet_",
                                                      "xmma_",
                                                      "cublas",
                                                      "cudnn",
                                                      "cutlass::gemm::",
                                                      "cutlass::conv::",
                                                      "cutlass::kernel",
                                                      "cutlass::device_kernel",
                                                      "7cutlass6kernel",
                                                      "7cutlass7kernel2",
                                                      "7cutlass13device_kernel",
                                                      "cutlass_",
                                                      "flash_fwd",
                                                      "flash_bwd",
                                                      "fmhasm",
                                                      "fmha_cutlass",
                                                      "gemmsn_",
                                                      "gemmk1_"};

std::optional<std::string_view> nvjet_format(std::string_view kernel) noexcept {
  const std::size_t begin = kernel.find(kNvjet);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view letters = kernel.substr(begin + kNvjet.size());
  if (letters.starts_with("sm")) letters.remove_prefix(std::min(letters.size(), letters.find('_') + 1));
  for (const auto& [letter, format] : kNvjetFormats)
    if (letters.starts_with(letter)) return format;
  return std::nullopt;
}

struct Capability {
  std::uint32_t major, minor;
  TensorCores cores;
};
// Dense rates relative to FP32, from the white papers of V100, Turing, A100, GA102, Ada, H100 and Blackwell. The first entry of a major number is also used
// for minor numbers that are not listed.
constexpr std::array kCapabilities{
    Capability{7, 0, {TensorFormat::kFp16, 8}},  Capability{7, 5, {TensorFormat::kFp16, 8}},  Capability{8, 0, {TensorFormat::kTf32, 8}},
    Capability{8, 6, {TensorFormat::kBf16, 2}},  Capability{8, 9, {TensorFormat::kBf16, 2}},  Capability{9, 0, {TensorFormat::kTf32, 8}},
    Capability{10, 0, {TensorFormat::kTf32, 8}}, Capability{12, 0, {TensorFormat::kBf16, 2}},
};

}  // namespace

bool is_fp32_product(std::string_view kernel) noexcept { return has_any(kernel, kProducts) && has_any(kernel, kFp32) && !has_any(kernel, kTensor); }

std::optional<std::string_view> product_format(std::string_view kernel) noexcept {
  if (has_any(kernel, kAttention) || !(has_any(kernel, kProducts) || has(kernel, "nvjet"))) return std::nullopt;
  if (is_fp32_product(kernel)) return "FP32";
  if (const auto format = nvjet_format(kernel)) return format;
  for (const auto& [part, format] : kFormats)
    if (has(kernel, part)) return format;
  return "other formats";
}

bool is_library_product(std::string_view kernel) noexcept {
  const auto format = product_format(kernel);
  return (format && *format != "other formats") || has_any(kernel, kLibraries);
}

std::optional<TensorCores> tensor_cores_of(const Gpu& gpu) noexcept {
  const Capability* found = nullptr;
  for (const Capability& capability : kCapabilities) {
    if (capability.major != gpu.compute_major) continue;
    if (capability.minor == gpu.compute_minor) return capability.cores;
    if (found == nullptr) found = &capability;
  }
  return found == nullptr ? std::nullopt : std::optional(found->cores);
}

std::string_view tensor_core_advice(TensorFormat format) noexcept {
  switch (format) {
    case TensorFormat::kTf32:
      return "Allow TF32, which keeps FP32's range and 10 bits behind the point (PyTorch: torch.set_float32_matmul_precision(\"high\"); JAX: "
             "jax_default_matmul_precision; cuBLAS: CUBLAS_COMPUTE_32F_FAST_TF32), or train in BF16 under autocast, which is faster still.";
    case TensorFormat::kBf16:
      return "Compute in BF16 where that is exact enough (PyTorch: torch.autocast(\"cuda\", dtype=torch.bfloat16)); TF32 is no faster than FP32 on this GPU.";
    case TensorFormat::kFp16:
      return "Compute in FP16 with a scaled loss (PyTorch: torch.autocast(\"cuda\") with torch.amp.GradScaler); this GPU's tensor cores take nothing wider.";
  }
  return "";
}

}  // namespace lanescope::kernels
