# Finds the headers of CUPTI and NVTX. Only headers are needed: the agent loads libcupti at run time, so that one agent works on every machine.
set(LANESCOPE_CUDA_ROOT "/usr/local/cuda" CACHE PATH "The CUDA toolkit")
find_path(LANESCOPE_CUPTI_INCLUDE cupti.h
  HINTS ENV CUDA_HOME "${LANESCOPE_CUDA_ROOT}" PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
find_path(LANESCOPE_CUDA_INCLUDE cuda.h
  HINTS ENV CUDA_HOME "${LANESCOPE_CUDA_ROOT}" PATH_SUFFIXES include targets/x86_64-linux/include)
find_path(LANESCOPE_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ENV CUDA_HOME "${LANESCOPE_CUDA_ROOT}" "$ENV{HOME}/.cache/lanescope" PATH_SUFFIXES include targets/x86_64-linux/include)
find_program(LANESCOPE_NVCC nvcc HINTS ENV CUDA_HOME "${LANESCOPE_CUDA_ROOT}" PATH_SUFFIXES bin)

if(NOT LANESCOPE_NVTX_INCLUDE)
  message(FATAL_ERROR "The NVTX headers (nvtx3/nvToolsExt.h) were not found. Run packaging/install-deps.sh, or pass -DLANESCOPE_NVTX_INCLUDE=DIR.")
endif()
add_library(lanescope_nvtx_headers INTERFACE)
target_include_directories(lanescope_nvtx_headers SYSTEM INTERFACE "${LANESCOPE_NVTX_INCLUDE}")

if(LANESCOPE_CUPTI_INCLUDE AND LANESCOPE_CUDA_INCLUDE)
  set(LANESCOPE_HAVE_CUPTI ON)
  add_library(lanescope_cupti_headers INTERFACE)
  target_include_directories(lanescope_cupti_headers SYSTEM INTERFACE "${LANESCOPE_CUPTI_INCLUDE}" "${LANESCOPE_CUDA_INCLUDE}")
else()
  set(LANESCOPE_HAVE_CUPTI OFF)
  message(STATUS "The CUDA toolkit was not found (cupti.h): the agent is built without CUDA tracing; everything else works.")
endif()
