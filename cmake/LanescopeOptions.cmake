# Settings for all targets: language, warnings, sanitizers, folders of binaries.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# The paths from installed programs to the agent and the Python package. They are relative, so that an installed tree may be moved as a whole.
file(RELATIVE_PATH LANESCOPE_LIBRARIES_FROM_PROGRAMS "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
file(RELATIVE_PATH LANESCOPE_DATA_FROM_PROGRAMS "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_DATADIR}/lanescope")

set(LANESCOPE_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined; the agent is never instrumented, since it runs inside other programs: its sources are in a program of the tests (agent_inside)")
option(LANESCOPE_BENCHMARKS "Build the programs of tests/bench with all the rest" ON)
option(LANESCOPE_LIBFUZZER "Link fuzz targets with libFuzzer (Clang); else each is replayed by a test" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # When GCC 12 optimises, it warns of overflows in the library's own std::string and std::vector (GCC bugs 105329 and 105651).
  add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fdiagnostics-color=auto)
endif()

option(LANESCOPE_PRECOMPILED_HEADERS "Read the headers of other projects once per target; OFF shows an include that a file lacks" ON)
option(LANESCOPE_UNITY "Compile the files of a library several at once: faster from nothing, slower after a change" OFF)
find_program(LANESCOPE_CCACHE ccache)
if(LANESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches no file with a precompiled header unless it may ignore macros and times, which no file here uses. CCACHE_DEPEND: a file is found by the
  # content of all that it reads, and never by its preprocessed text, which stays the same when a comment changes. A precompiled header that was found so held
  # the checksum of an older file, and GCC then read the new file once more in spite of its `#pragma once`. It also saves a preprocessing of every file.
  set(launcher "${CMAKE_COMMAND}" -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${LANESCOPE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Lets the compiler collect garbage later: a file takes up to a tenth less time, and 130 MB more memory.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=400000>)
endif()
# For programs that read files and messages of others (docs/security.md): unpredictable addresses, an end at buffer overflows, and linker tables that
# can't be written to. The agent does without, because it must be fast in the programs of others (collector/agent). A portable recorder has its own settings.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT LANESCOPE_PORTABLE)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro -Wl,-z,now $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
find_program(LANESCOPE_LLD ld.lld)
if(LANESCOPE_LLD AND NOT LANESCOPE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)  # a cross compiler of Debian looks for its own linkers alone
  add_link_options(-fuse-ld=lld)
endif()
