// The driver functions that the agent calls. This library has the driver's name.
#include <cuda.h>

extern "C" {

CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }

}  // extern "C"
