# A recorder that runs on any distribution with glibc 2.28 or newer: every library except glibc's is linked into it, and it is linked against the C
# library of glibc 2.28, whose stubs Zig provides. Compiled with GCC 12 on Debian 12; packaging/package.sh fetches the files that are named here.
option(LANESCOPE_PORTABLE "Build a recorder for glibc 2.28 and newer" OFF)
if(NOT LANESCOPE_PORTABLE)
  return()
endif()
set(LANESCOPE_ZIG "" CACHE FILEPATH "The program zig, 0.17 or newer")
foreach(needed LANESCOPE_ZIG LANESCOPE_SIMDJSON_SOURCE)
  if(NOT EXISTS "${${needed}}")
    message(FATAL_ERROR "LANESCOPE_PORTABLE needs ${needed}")
  endif()
endforeach()

set(BUILD_TESTING OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "The same in each package, wherever it is built" FORCE)
set(CMAKE_DISABLE_FIND_PACKAGE_Qt6 ON)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Protobuf_USE_STATIC_LIBS ON)

add_library(lanescope_c_library OBJECT "${PROJECT_SOURCE_DIR}/packaging/portable/c_library.c")

# GCC's own archives are given by their paths, because Zig would use LLVM's. Static libraries that need each other are between the marks of a group.
foreach(archive libstdc++.a libsupc++.a libgcc_eh.a libgcc.a)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${archive} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND gcc_archives "${path}")
endforeach()
set(others)
foreach(library z zstd lzma bz2 elf)
  find_library(LANESCOPE_STATIC_${library} ${library} REQUIRED)
  list(APPEND others "${LANESCOPE_STATIC_${library}}")
endforeach()
list(GET gcc_archives 0 gcc_folder)
get_filename_component(gcc_folder "${gcc_folder}" DIRECTORY)
list(JOIN gcc_archives " " gcc_archives)
list(JOIN others " " others)
set(c_library "${PROJECT_BINARY_DIR}/CMakeFiles/lanescope_c_library.dir/packaging/portable/c_library.c.o")
set(CMAKE_CXX_LINK_EXECUTABLE
  "${LANESCOPE_ZIG} cc -target ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.2.28 -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--build-id=sha1 -Wl,--gc-sections <OBJECTS> -o <TARGET> -L${gcc_folder} -Wl,--start-group <LINK_LIBRARIES> ${others} ${c_library} -nostdlib++ ${gcc_archives} -Wl,--end-group -lpthread -ldl -lm")
# As in every release (cmake/LanescopeOptions.cmake).
add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# Unused functions and data are left out of programs and libraries.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)  # of libraries; programs have it above
# Paths of this machine would make builds of the same source differ between machines.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -g1)
