// Names that PyTorch 2.11 launched on an H200 for one program whose precision was chosen (tests/programs/gpu/transformer_step.py), and names of NVIDIA's
// libraries on older GPUs.
#include "model/kernels/matrix_product.h"

#include <map>
#include <string>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::kernels;

TEST_CASE("matrix products without tensor cores are told by their names") {
  for (const char* fp32 : {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                           "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(cutlass_80_simt_sgemm_128x256_8x4_nt_align1::Params)",
                           "_ZN7cutlass7Kernel2I44cutlass_80_simt_sgemm_128x256_8x4_nt_align1EEvNT_6ParamsE", "ampere_sgemm_128x64_tn",
                           "volta_sgemm_64x32_sliced1x4_nn", "volta_scudnn_128x64_relu_interior_nn_v1",
                           // cuDNN's gradients of a convolution of ResNet-50 on a V100.
                           "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*, int, float const*, int, float*, "
                           "kernel_grad_params, unsigned long long, int, float, int)",
                           "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int, int)",
                           "_ZN5cudnn6detail12dgrad_engineIfLi512ELi6ELi5ELi3ELi3ELi3ELb0EEEviii"}) {
    CAPTURE(fp32);
    CHECK(is_fp32_product(fp32));
  }
  for (const char* other :
       {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas",
        "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "ampere_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "ampere_s1688gemm_fp16_128x128_sliced1x2_ldg8_f2f_nn", "cutlass_80_tensorop_s1688gemm_128x256_16x3_tt_align4", "volta_s884gemm_fp16_128x64_ldg8_f2f_nn",
        "ampere_dgemm_64x64_nt", "void cudnn::cnn::wgrad_alg0_engine<__half, 128, 6, 7, 3, 3, 5, false, 512>(int, int, int)",
        "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_fp32_product(other));
  }
}

TEST_CASE("the format of a matrix product is what its name says") {
  const std::map<std::string, std::string> known{
      {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "FP32"},
      {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "TF32"},
      {"cutlass_80_tensorop_s1688gemm_128x256_16x3_tt_align4", "TF32"},
      {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "BF16"},
      {"ampere_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "BF16"},
      {"ampere_s1688gemm_fp16_128x128_sliced1x2_ldg8_f2f_nn", "FP16"},
      {"ampere_dgemm_64x64_nt", "FP64"},
      {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", "FP16"},
      {"nvjet_sm100_tst_128x256_64x4_2x1_2cta_v_bz_TNT", "BF16"},
      {"nvjet_sm100_qqtst_128x128_128x6_1x1_h_bz_TNT", "FP8"},
      {"nvjet_sm90_sss_64x64_64x4_1x1_v_bz_TNN", "other formats"}};
  for (const auto& [kernel, format] : known) CHECK(product_format(kernel) == format);
  for (const char* other : {"fmha_cutlassB_f32_aligned_64x64_k64_dropout_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::gemm::GemmShape<64>>)",
                            "void gemv2T_kernel_val<int, int, float>", "void at::native::vectorized_elementwise_kernel<4>", ""})
    CHECK_FALSE(product_format(other));
}

TEST_CASE("products of NVIDIA's libraries are known by names that nobody else's kernels have") {
  for (const char* of_library :
       {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", "nvjet_sm90_sss_64x64_64x4_1x1_v_bz_TNN",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>>>",
        "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversal",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>",
        "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
        "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false, cublasGemvTensorStridedBatched<float const>>", "void gemmSN_TN_kernel<float, 128>"}) {
    CAPTURE(of_library);
    CHECK(is_library_product(of_library));
  }
  for (const char* other : {"my_gemm(float*, float*)", "naive_matmul", "flashing_lights(int)", "void at::native::vectorized_elementwise_kernel<4>", ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_library_product(other));
  }
}

TEST_CASE("what tensor cores take depends on the GPU") {
  const auto cores_of = [](std::uint32_t major, std::uint32_t minor) {
    Gpu gpu;
    gpu.compute_major = major;
    gpu.compute_minor = minor;
    return tensor_cores_of(gpu);
  };
  REQUIRE(cores_of(9, 0));
  CHECK(cores_of(9, 0)->format == TensorFormat::kTf32);
  CHECK(cores_of(9, 0)->gain() == 0.875);  // 494.7 TFLOP/s of TF32 against 66.9 of FP32, apart from clocks
  REQUIRE(cores_of(8, 9));
  CHECK(cores_of(8, 9)->format == TensorFormat::kBf16);
  REQUIRE(cores_of(7, 2));
  CHECK(cores_of(7, 2)->format == TensorFormat::kFp16);
  CHECK_FALSE(cores_of(6, 1));
  CHECK_FALSE(cores_of(0, 0));
}
