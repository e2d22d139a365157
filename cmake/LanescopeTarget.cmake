# lanescope_library(NAME HEADERS include/... SOURCES ... [ALONE sources] [PUBLIC targets] [PRIVATE targets] [PRECOMPILED <header>...])
#
# A static library of one folder. Its public headers live under include/, apart from its sources; each must compile by itself
# (build the target all_verify_interface_header_sets). A target sees only the include folders of what it links, so an
# include against the arrows does not compile. ALONE: see lanescope_unity.
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

# lanescope_unity(NAME [ALONE...]): the target's files are compiled several at once where the build asks for it (LANESCOPE_UNITY): a build from nothing
# takes less than half of the processor's time, since files spend most of it on the same headers and templates; one after a change takes longer. No two
# of its files may give one name to different things, not even in unnamed namespaces, but for files that are compiled ALONE.
function(lanescope_unity NAME)
  if(LANESCOPE_UNITY)
    set_target_properties(${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12 LANESCOPE_ALONE "${ARGN}")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # To GCC, what is defined beside another source is defined in a header.
    target_compile_options(${NAME} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# lanescope_for_people(NAME): code of a face of the program, which waits for a person, is compiled in less time: a release optimises it as `dev` does.
function(lanescope_for_people NAME)
  if(LANESCOPE_PORTABLE)
    lanescope_small(${NAME})
  else()
    target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# lanescope_small(NAME): code that runs once, or waits for others, takes less room in packages of the recorder, which are copied to many machines.
function(lanescope_small NAME)
  if(LANESCOPE_PORTABLE)
    target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
endfunction()

# lanescope_recorder_program(NAME PARTS): a program beside lanescope, of main.cpp and the library PARTS. In packages of the recorder it is a part of
# lanescope, and of this name there is one that runs it.
function(lanescope_recorder_program NAME PARTS)
  if(LANESCOPE_PORTABLE)
    add_executable(${NAME} "${PROJECT_SOURCE_DIR}/packaging/portable/part_of_lanescope.cpp")
  else()
    add_executable(${NAME} main.cpp)
    target_link_libraries(${NAME} PRIVATE ${PARTS})
  endif()
endfunction()

# Instruments a target where the build asks for it (LANESCOPE_SANITIZE).
function(lanescope_sanitize NAME)
  if(LANESCOPE_SANITIZE)
    target_compile_options(${NAME} PRIVATE -fsanitize=${LANESCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${NAME} PUBLIC -fsanitize=${LANESCOPE_SANITIZE})
  endif()
endfunction()

# lanescope_unoptimised(NAME): code of tests that mostly wait, or leave the work to libraries: to optimise it takes longer than it saves.
function(lanescope_unoptimised NAME)
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

# The standard headers that most files here include: to read them takes longer than to compile what follows.
set(LANESCOPE_STANDARD_HEADERS
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string>
  <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

set(LANESCOPE_TEST_HEADERS "${PROJECT_SOURCE_DIR}/tests/support/include/support/catch.h" ${LANESCOPE_STANDARD_HEADERS})
set(LANESCOPE_QT_HEADERS <QAction> <QApplication> <QComboBox> <QGridLayout> <QLabel> <QLineEdit> <QMainWindow> <QMenu> <QPainter> <QPushButton> <QTableView> <QTimer>)

# lanescope_precompile(NAME HEADERS...): headers of other projects, read once for all files of a target. Our own are never among them, and the
# header sets are verified without, so that every file still includes what it uses.
function(lanescope_precompile NAME)
  if(LANESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${NAME} PRIVATE ${ARGN})
  endif()
endfunction()

# lanescope_precompile_as(NAME OWNER): the headers that were precompiled for another target, with the same compiler options.
function(lanescope_precompile_as NAME OWNER)
  if(LANESCOPE_PRECOMPILED_HEADERS)
    target_precompile_headers(${NAME} REUSE_FROM ${OWNER})
  endif()
endfunction()

# lanescope_test(NAME SOURCES ... [ALONE sources] LIBRARIES ... [PRECOMPILED <header>... | PRECOMPILED_AS test]): one Catch2 program, registered with CTest
# under its name. Optimised where LANESCOPE_TESTS_COMPUTE is on: in folders whose tests have oracles and large traces.
function(lanescope_test NAME)
  cmake_parse_arguments(ARG "" "PRECOMPILED_AS" "SOURCES;ALONE;LIBRARIES;PRECOMPILED" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LIBRARIES} lanescope_test_main)
  lanescope_sanitize(${NAME})
  if(NOT LANESCOPE_TESTS_COMPUTE)
    lanescope_unoptimised(${NAME})
  endif()
  lanescope_unity(${NAME} ${ARG_ALONE})
  set_target_properties(${NAME} PROPERTIES UNITY_BUILD_BATCH_SIZE 6)  # tests are what is changed most
  if(ARG_PRECOMPILED)
    lanescope_precompile(${NAME} ${ARG_PRECOMPILED})
  elseif(ARG_PRECOMPILED_AS)
    lanescope_precompile_as(${NAME} ${ARG_PRECOMPILED_AS})
  elseif(LANESCOPE_TESTS_COMPUTE)
    lanescope_precompile_as(${NAME} test_file)
  else()
    lanescope_precompile_as(${NAME} test_channel)
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT 1200)  # of what hangs; the longest take minutes on a busy machine
endfunction()
