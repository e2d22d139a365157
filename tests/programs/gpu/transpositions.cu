// Transposes a matrix in three ways, ROUNDS times each: writing along columns, through shared memory whose banks conflict, and through
// padded shared memory. Ends with 1 where a result is wrong.
//
// nvcc -arch=sm_90 -O2 -lineinfo transpositions.cu -o transpositions; transpositions [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kRows = 4096;
constexpr int kColumns = 8192;
constexpr int kTile = 32;
constexpr int kTileRows = 8;

__device__ __forceinline__ int place(int row, int column, int columns) {
  return row * columns + column;
}

template <int kPadding>
__device__ __forceinline__ void through_tile(float* out, const float* in) {
  __shared__ float tile[kTile][kTile + kPadding];
  int column = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kTileRows)
    tile[threadIdx.y + i][threadIdx.x] = in[place(row + i, column, kColumns)];
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kTileRows)
    out[place(row + i, column, kRows)] = tile[threadIdx.x][threadIdx.y + i];
}

}  // namespace

__global__ void transpose_by_columns(float* out, const float* in) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kTileRows)
    out[place(column, row + i, kRows)] = in[place(row + i, column, kColumns)];
}

__global__ void transpose_shared(float* out, const float* in) { through_tile<0>(out, in); }

__global__ void transpose_padded(float* out, const float* in) { through_tile<1>(out, in); }

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::size_t count = std::size_t{kRows} * kColumns;
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 8191);
  float* in = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&in, count * sizeof(float)) != cudaSuccess || cudaMalloc(&out, count * sizeof(float)) != cudaSuccess) return 2;
  cudaMemcpy(in, numbers.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 grid(kColumns / kTile, kRows / kTile);
  const dim3 block(kTile, kTileRows);
  void (*const kernels[])(float*, const float*) = {transpose_by_columns, transpose_shared, transpose_padded};
  std::vector<float> transposed(count);
  for (const auto kernel : kernels) {
    cudaMemset(out, 0, count * sizeof(float));
    for (int i = 0; i < rounds; ++i) kernel<<<grid, block>>>(out, in);
    cudaMemcpy(transposed.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int row = 0; row < kRows; row += 97)
      for (int column = 0; column < kColumns; column += 89)
        if (transposed[std::size_t(column) * kRows + row] != numbers[std::size_t(row) * kColumns + column]) return 1;
  }
  std::puts("transposed");
  return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
