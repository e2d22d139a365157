#include "model/trace/kernel_name.h"

#include "support/catch.h"

using namespace lanescope;

TEST_CASE("short kernel names drop return type, namespaces, template arguments and parameters") {
  // Pairs of demangledName and shortName as Nsight Systems exports them.
  const auto [full, brief] = GENERATE(table<std::string, std::string>({
      {"axpy(float *, int, float)", "axpy"},
      {"void reduce<float, (int)4>(const T1 *, T1 *)", "reduce"},
      {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, (unsigned long)1>>(int, "
       "T2, T3)",
       "vectorized_elementwise_kernel"},
      {"void at::native::<unnamed>::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1 *)",
       "nll_loss_forward_reduce_cuda_kernel_2d"},
      {"void at::native::(anonymous namespace)::softmax<float>(float*)", "softmax"},
      {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"},
      {"void outer<int>::inner(int)", "inner"},
  }));
  CHECK(short_kernel_name(full) == brief);
}

TEST_CASE("mangled names become readable and plain names stay") {
  CHECK(demangle("_Z4axpyPfif") == "axpy(float*, int, float)");
  CHECK(demangle("ampere_sgemm_128x64_tn") == "ampere_sgemm_128x64_tn");
  CHECK(demangle("") == "");
}
