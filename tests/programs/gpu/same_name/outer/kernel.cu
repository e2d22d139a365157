// A kernel whose lines are of two files of one name.
#include "../inner/kernel.cu"

__global__ void square(float* values) {
  const float value = values[threadIdx.x];
  values[threadIdx.x] = square_more(value);
}
