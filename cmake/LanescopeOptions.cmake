# Settings that hold for every target: language, warnings, sanitizers, where binaries land.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# Where installed programs find the agent and the Python package, from their own folder: an installed tree may be moved as a whole.
file(RELATIVE_PATH LANESCOPE_LIBRARIES_FROM_PROGRAMS "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
file(RELATIVE_PATH LANESCOPE_DATA_FROM_PROGRAMS "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_DATADIR}/lanescope")

set(LANESCOPE_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined; the agent is never instrumented, since it runs inside other programs: its sources are in a program of the tests (agent_inside)")
option(LANESCOPE_BENCHMARKS "Build the programs of tests/bench with all the rest" ON)
option(LANESCOPE_LIBFUZZER "Link fuzz targets with libFuzzer (Clang); else each is replayed by a test" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes the library's own std::string and std::vector for overflows when it optimises (GCC bugs 105329 and 105651).
  add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fdiagnostics-color=auto)
endif()

option(LANESCOPE_PRECOMPILED_HEADERS "Read the headers of other projects once per target; OFF shows an include that a file lacks" ON)
option(LANESCOPE_UNITY "Compile the files of a library several at once: faster from nothing, slower after a change" OFF)
find_program(LANESCOPE_CCACHE ccache)
if(LANESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache keeps nothing of a file with a precompiled header unless it is told that macros and times may differ, which no file here looks at.
  set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${LANESCOPE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
  if(LANESCOPE_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler collects its garbage later: a file takes up to a tenth less time and 130 MB more.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=400000>)
endif()
# What reads files and messages of others (docs/security.md): where it is in memory is not to be foretold, what it overruns ends it, and what links it
# can't be written to. Not so the agent, which is in a hurry in programs of others (collector/agent). A portable recorder has its own.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT LANESCOPE_PORTABLE)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro -Wl,-z,now $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
find_program(LANESCOPE_LLD ld.lld)
if(LANESCOPE_LLD AND NOT LANESCOPE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)  # a cross compiler of Debian looks for its own linkers alone
  add_link_options(-fuse-ld=lld)
endif()
