# Settings that hold for every target: language, warnings, sanitizers, where binaries land.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

set(LANESCOPE_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined; the agent is never instrumented, since it runs inside other programs")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fdiagnostics-color=auto)
endif()

find_program(LANESCOPE_CCACHE ccache)
if(LANESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${LANESCOPE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${LANESCOPE_CCACHE}")
endif()
find_program(LANESCOPE_LLD ld.lld)
if(LANESCOPE_LLD AND NOT LANESCOPE_SANITIZE)
  add_link_options(-fuse-ld=lld)
endif()
