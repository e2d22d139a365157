#include "model/trace/text/kernel_name.h"

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
      {"void at::native::<unnamed>::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1 *)", "nll_loss_forward_reduce_cuda_kernel_2d"},
      {"void at::native::(anonymous namespace)::softmax<float>(float*)", "softmax"},
      {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"},
      {"void outer<int>::inner(int)", "inner"},
  }));
  CHECK(short_kernel_name(full) == brief);
}

TEST_CASE("short names of CUTLASS's kernels are the operations that their one function is given") {
  const auto [full, brief] = GENERATE(table<std::string, std::string>({
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(cutlass_80_simt_sgemm_128x256_8x4_nt_align1::Params)",
       "cutlass_80_simt_sgemm_128x256_8x4_nt_align1"},
      {"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaPipelined<int, (int)4> > >(T1::Params)", "Gemm"},
      {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::Mainloop<(int)2>>>(T1::Params)", "FlashAttnFwdSm90"},
      {"void cutlass::device_kernel<::flash::Forward>(T1::Params)", "Forward"},
      {"void mycutlass::Kernel<Operation>(int)", "Kernel"},
      {"void cutlass::Kernel<unsigned int>(int)", "Kernel"},
      {"void other::Kernel2<operation>(operation::Params)", "Kernel2"},
      {"void cutlass::Kernel3<operation>(operation::Params)", "Kernel3"},
      {"void cutlass::Kernel2<(int)4>(int)", "Kernel2"},
      {"void cutlass::Kernel2", "Kernel2"},
      {"Kernel2<operation>(int)", "Kernel2"},
  }));
  CHECK(short_kernel_name(full) == brief);
}

TEST_CASE("functions in sentences keep their scopes, and nothing of templates, parameters, results and what is local to them") {
  const auto [full, brief] = GENERATE(table<std::string, std::string>({
      // Names as they appear in samples of PyTorch, its libraries and CPython.
      {"at::detail::empty_cpu(c10::ArrayRef<long>, c10::TensorOptions const&)", "at::detail::empty_cpu"},
      {"at::CachingHostAllocatorImpl<c10::cuda::CUDAStream, std::unique_ptr<c10::cuda::CUDAEvent, std::function<void (c10::cuda::CUDAEvent*)> >, "
       "at::HostBlock<c10::cuda::CUDAStream> >::free(void*)",
       "at::CachingHostAllocatorImpl::free"},
      {"void c10::function_ref<void (char**, long const*, long, long)>::callback_fn<at::native::AVX2::VectorizedLoop2d<"
       "at::native::(anonymous namespace)::add_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(float)#2}> >(long, char**)",
       "c10::function_ref::callback_fn"},
      {"at::native::(anonymous namespace)::add_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const", "at::native::add_kernel"},
      {"std::_Rb_tree_rebalance_for_erase(std::_Rb_tree_node_base*, std::_Rb_tree_node_base&)", "std::_Rb_tree_rebalance_for_erase"},
      {"decltype (f(0)) call<int>(int)", "call"},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<"},
      {"Work::operator()(int) const", "Work::operator()"},
      {"operator new(unsigned long)", "operator new"},
      {"bool operator==<char>(Text<char> const&, Text<char> const&)", "operator=="},
      {"ns::operator\"\" _ms(unsigned long long)", "ns::operator\"\" _ms"},
      {"decltype(auto) ns::visit<A>(A&&)", "ns::visit"},
      {"main.(*Server).handle", "main.(*Server).handle"},
      {"main.(*Server).handle.func1", "main.(*Server).handle.func1"},
      {"<candle_core::cuda_backend::CudaStorage as candle_core::backend::BackendStorage>::matmul", "candle_core::cuda_backend::CudaStorage::matmul"},
      {"<T as ns::Trait<alloc::vec::Vec<u8>>>::run", "T::run"},
      {"_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault"},
      {"__pthread_mutex_lock", "__pthread_mutex_lock"},
      {"finish_task_switch.isra.0", "finish_task_switch.isra.0"},
      {"(", "("},
      {"", ""},
      // From a name that was left mangled, the leading scopes.
      {"_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZN2at18TensorIteratorBaseE", "c10::function_ref"},
      {"_ZNK2at6Tensor4dataEv", "at::Tensor::data"},
      {"_Z999999999999999999999999x", "x"},
      {"_Z", "_Z"},
  }));
  CHECK(scoped_function_name(full) == brief);
}

TEST_CASE("mangled names become readable and plain names stay") {
  CHECK(demangle("_Z4axpyPfif") == "axpy(float*, int, float)");
  CHECK(demangle("ampere_sgemm_128x64_tn") == "ampere_sgemm_128x64_tn");
  CHECK(demangle("") == "");
}

TEST_CASE("a function of C whose name would be a mangled type keeps it") {
  for (const char* name : {"f", "v", "Pf", "i", "St", "PKc"}) CHECK(demangle(name) == name);  // as types these are float, void, float* and others
}

TEST_CASE("a real name with many references and identifiers behind each other becomes readable") {
  // A name in cuBLAS, which PyTorch uses, and the result of c++filt.
  CHECK(demangle("_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffffLb0EfffLb1ELb0ELb0ELb0EEEvNS_18cublasSplitKParamsIT4_EEPKT2_PKT8_PT7_PT3_PKS2_"
                 "SF_PKT9_S6_PSG_PvlPS2_PiSL_SL_SF_SF_SF_SF_SF_")
            .starts_with("void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, false, float,"));
}

TEST_CASE("names whose parts refer to each other without end are left mangled") {
  // a<int>, a<that, that>, a<that, that>, ...: each is twice as long as the one before.
  const auto reference = [](int number) { return number == 0 ? std::string("S_") : "S" + std::string(1, "0123456789ABCDEFGHIJ"[number - 1]) + "_"; };
  const auto doubled = [&](int times) {
    std::string name = "1aIiiE";
    for (int i = 1; i <= times; ++i) name += "S_I" + reference(i) + reference(i) + "E";
    return name;
  };
  CHECK(demangle("_Z1f" + doubled(2)) == "f(a<int, int>, a<a<int, int>, a<int, int> >, a<a<a<int, int>, a<int, int> >, a<a<int, int>, a<int, int> > >)");
  const std::string endless = "_Z1f" + doubled(20);
  CHECK(demangle(endless) == endless);
  const std::string in_a_pack = "_Z1fDp1bI" + doubled(20) + "E";
  CHECK(demangle(in_a_pack) == in_a_pack);
  CHECK(demangle("_Z1fIJidEEvDpT_") == "void f<int, double>(int, double)");
}
