"""Copies through the CUDA driver by ctypes only, so that any CPython can run it. Ten copies of 256 MiB to the host in slow_copy(), each of some tens of
milliseconds, and a thousand of 4 bytes in quick_copies()."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
SIZE = 256 << 20


def check(result):
    if result != 0:
        sys.exit(f"CUDA error {result}")


def slow_copy(target, source):
    check(cuda.cuMemcpyDtoH_v2(target, source, ctypes.c_size_t(SIZE)))


def quick_copies(target, source):
    for _ in range(1000):
        check(cuda.cuMemcpyDtoH_v2(target, source, ctypes.c_size_t(4)))


def main():
    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(SIZE)))
    buffer = ctypes.create_string_buffer(SIZE)
    for _ in range(10):
        slow_copy(buffer, memory)
    quick_copies(buffer, memory)


main()
