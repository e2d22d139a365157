# lanescope_library(NAME HEADERS include/... SOURCES ... [ALONE sources] [PUBLIC targets] [PRIVATE targets] [PRECOMPILED <header>...])
#
# Makes a static library of one folder. Its public headers are under include/, apart from its sources; each must compile by itself
# (build the target all_verify_interface_header_sets). A target sees only the include folders of the libraries it links, so an
# include against the direction of dependencies does not compile. ALONE: see lanescope_unity.
function(lanescope_library NAME)
  cmake_parse_arguments(ARG "" "BASE" "HEADERS;SOURCES;ALONE;PUBLIC;PRIVATE;PRECOMPILED" ${ARGN})
  if(NOT ARG_BASE)
    set(ARG_BASE include)
  endif()
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_sources(${NAME} PUBLIC FILE_SET HEADERS BASE_DIRS ${ARG_BASE} FILES ${ARG_HEADERS})
  set_target_properties(${NAME} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON LINKER_LANGUAGE CXX)
  target_link_libraries(${NAME} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  lanescope_sanitize(${NAME})
  lanescope_unity(${NAME} ${ARG_ALONE})
  if(LANESCOPE_PORTABLE)
    target_compile_options(${NAME} PRIVATE -falign-functions=1 -falign-jumps=1 -falign-loops=1 -falign-labels=1)  # packages are 3 % smaller without gaps in code
  endif()
  if(ARG_PRECOMPILED)
    lanescope_precompile(${NAME} ${ARG_PRECOMPILED})
  else()
    lanescope_precompile_as(${NAME} lanescope_file)
  endif()
endfunction()

# lanescope_unity(NAME [ALONE...]): several files of the target are compiled at once if the build asks for it (LANESCOPE_UNITY). A full build then
# takes less than half of the processor time, because files spend most of it on the same headers and templates; a build after a change takes longer. Two
# of its files must not give the same name to different things, not even in unnamed namespaces, except files that are compiled ALONE.
function(lanescope_unity NAME)
  if(LANESCOPE_UNITY)
    set_target_properties(${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24 LANESCOPE_ALONE "${ARGN}")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # GCC takes what is defined beside another source as if it were defined in a header.
    target_compile_options(${NAME} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# lanescope_for_people(NAME): code of a user interface, which waits for people, is compiled faster: a release optimises it only as much as `dev`.
function(lanescope_for_people NAME)
  if(LANESCOPE_PORTABLE)
    lanescope_small(${NAME})
  else()
    target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# lanescope_small(NAME): code that runs once or waits for others is made smaller in packages of the recorder, which are copied to many machines.
function(lanescope_small NAME)
  if(LANESCOPE_PORTABLE)
    target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
endfunction()

# lanescope_small_sources(SOURCES...): the same for some files of a library.
function(lanescope_small_sources)
  if(LANESCOPE_PORTABLE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
  endif()
endfunction()

# lanescope_recorder_program(NAME PARTS): a program beside lanescope, made from main.cpp and the library PARTS. In packages of the recorder its code is in
# lanescope, and a small program of this name runs that.
function(lanescope_recorder_program NAME PARTS)
  if(LANESCOPE_PORTABLE)
    add_executable(${NAME} "${PROJECT_SOURCE_DIR}/packaging/portable/part_of_lanescope.cpp")
  else()
    add_executable(${NAME} main.cpp)
    target_link_libraries(${NAME} PRIVATE ${PARTS})
  endif()
endfunction()

# Instruments a target if the build asks for it (LANESCOPE_SANITIZE).
function(lanescope_sanitize NAME)
  if(LANESCOPE_SANITIZE)
    target_compile_options(${NAME} PRIVATE -fsanitize=${LANESCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${NAME} PUBLIC -fsanitize=${LANESCOPE_SANITIZE})
  endif()
endfunction()

# lanescope_unoptimised(NAME): for code of tests that mostly waits, or leaves the work to libraries. Optimising it would take longer than it saves.
function(lanescope_unoptimised NAME)
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

# The standard headers that most files here include. Reading them takes longer than compiling the rest of a file.
set(LANESCOPE_STANDARD_HEADERS
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string>
  <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

set(LANESCOPE_TEST_HEADERS "${PROJECT_SOURCE_DIR}/tests/support/include/support/catch.h" ${LANESCOPE_STANDARD_HEADERS})
set(LANESCOPE_QT_HEADERS <QAction> <QApplication> <QComboBox> <QGridLayout> <QLabel> <QLineEdit> <QMainWindow> <QMenu> <QPainter> <QPushButton> <QTableView> <QTimer>)

# lanescope_precompile(NAME HEADERS...): headers that are read once for all files of a target: those of other projects, and for tests what they share. The
# header sets are verified without precompiled headers, so that every file still includes what it uses.
function(lanescope_precompile NAME)
  if(LANESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${NAME} PRIVATE ${ARGN})
  endif()
endfunction()

# lanescope_precompile_as(NAME OWNER): reuses the headers that were precompiled for another target with the same compiler options.
function(lanescope_precompile_as NAME OWNER)
  if(LANESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${NAME} REUSE_FROM ${OWNER})
  endif()
endfunction()

# lanescope_program_test(NAME COMMAND...): registers a test that starts programs with CTest. Programs that it leaves running are ended
# (tests/support/run_test.cpp). A test that hangs is ended after LANESCOPE_TEST_SECONDS, several times what most tests take on a busy machine; tests that take
# minutes have LANESCOPE_LONG_TEST_SECONDS.
if(LANESCOPE_SANITIZE)
  set(LANESCOPE_TEST_SECONDS 1800)
else()
  set(LANESCOPE_TEST_SECONDS 600)
endif()
set(LANESCOPE_LONG_TEST_SECONDS 1800)
function(lanescope_program_test NAME)
  add_test(NAME ${NAME} COMMAND lanescope_run_test ${ARGN})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${LANESCOPE_TEST_SECONDS})
endfunction()

# lanescope_test(NAME SOURCES ... [ALONE sources] LIBRARIES ... [PRECOMPILED <header>... | PRECOMPILED_AS test]): makes one Catch2 program and registers it
# with CTest under its name; the result is "Skipped" if most of its cases asserted nothing. Optimised if LANESCOPE_TESTS_COMPUTE is on, for folders whose
# tests have oracles and large traces.
function(lanescope_test NAME)
  cmake_parse_arguments(ARG "" "PRECOMPILED_AS" "SOURCES;ALONE;LIBRARIES;PRECOMPILED" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LIBRARIES} lanescope_test_main)
  lanescope_sanitize(${NAME})
  if(NOT LANESCOPE_TESTS_COMPUTE)
    lanescope_unoptimised(${NAME})
  endif()
  lanescope_unity(${NAME} ${ARG_ALONE})
  set_target_properties(${NAME} PROPERTIES UNITY_BUILD_BATCH_SIZE 12)  # tests are what is changed most
  if(ARG_PRECOMPILED)
    lanescope_precompile(${NAME} ${ARG_PRECOMPILED})
  elseif(ARG_PRECOMPILED_AS)
    lanescope_precompile_as(${NAME} ${ARG_PRECOMPILED_AS})
  elseif(LANESCOPE_TESTS_COMPUTE)
    lanescope_precompile_as(${NAME} test_file)
  else()
    lanescope_precompile_as(${NAME} test_channel)
  endif()
  lanescope_program_test(${NAME} $<TARGET_FILE:${NAME}>)
  set_tests_properties(${NAME} PROPERTIES SKIP_RETURN_CODE 77)  # tests/support/catch_main.cpp
endfunction()
