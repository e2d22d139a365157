# Compiles for aarch64 (Grace) on another machine: with Debian's cross compiler (g++-aarch64-linux-gnu) and the libraries of LANESCOPE_SYSROOT, a folder that
# packaging/sysroot.sh fills. Programs that the build runs, such as protoc, are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LANESCOPE_SYSROOT)
if(NOT LANESCOPE_SYSROOT)
  set(LANESCOPE_SYSROOT "$ENV{HOME}/.cache/lanescope/aarch64" CACHE PATH "Libraries and headers of aarch64 (packaging/sysroot.sh)")
endif()
set(CMAKE_SYSROOT "${LANESCOPE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)  # headers of CUDA are the same for all machines
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${LANESCOPE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${LANESCOPE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${LANESCOPE_SYSROOT}/usr/share/pkgconfig")
