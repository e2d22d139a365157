// Compiled as a part of ../outer/kernel.cu: two files of one name. Line 5 of both is executed.

__device__ __forceinline__ float square_more(float value) {
  // One instruction.
  return value * value + 3.0f;
}
