# SPDX-License-Identifier: MIT
# Defines lookback::distributed: lookback::lookback and NCCL, for programs that include
# lookback/distributed/nccl_communicator.cuh. NCCL is searched for in NCCL_ROOT, the CUDA toolkit, Python's package
# nvidia-nccl-cu13, and where CMake looks anyway. Without NCCL there is no such target; lookback::lookback alone is
# enough for every other communicator.
if(TARGET lookback::distributed)
  return()
endif()
set(lookback_nccl_hints ${NCCL_ROOT} $ENV{NCCL_ROOT} $ENV{NCCL_HOME} ${CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH}
                        /usr/local/cuda)
if(CMAKE_CUDA_COMPILER)
  cmake_path(GET CMAKE_CUDA_COMPILER PARENT_PATH lookback_nvcc_directory)
  list(APPEND lookback_nccl_hints ${lookback_nvcc_directory}/..)
endif()
file(GLOB lookback_nccl_packages ${CMAKE_CURRENT_LIST_DIR}/../build/cuda/lib/python3*/site-packages/nvidia/nccl)
list(APPEND lookback_nccl_hints ${lookback_nccl_packages})
if(NOT LOOKBACK_NCCL_INCLUDE_DIR OR NOT LOOKBACK_NCCL_LIBRARY)
  find_program(LOOKBACK_PYTHON NAMES python3 python)
  mark_as_advanced(LOOKBACK_PYTHON)
  if(LOOKBACK_PYTHON)
    execute_process(COMMAND ${LOOKBACK_PYTHON} -c "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])"
                    OUTPUT_VARIABLE lookback_nccl_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND lookback_nccl_hints ${lookback_nccl_package})
  endif()
endif()
find_path(LOOKBACK_NCCL_INCLUDE_DIR nccl.h HINTS ${lookback_nccl_hints} PATH_SUFFIXES include)
find_library(LOOKBACK_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${lookback_nccl_hints} PATH_SUFFIXES lib lib64)
mark_as_advanced(LOOKBACK_NCCL_INCLUDE_DIR LOOKBACK_NCCL_LIBRARY)
if(NOT LOOKBACK_NCCL_INCLUDE_DIR OR NOT LOOKBACK_NCCL_LIBRARY)
  message(STATUS "lookback: no NCCL found; there is no target lookback::distributed")
  return()
endif()
add_library(lookback_nccl SHARED IMPORTED GLOBAL)
set_target_properties(lookback_nccl PROPERTIES IMPORTED_LOCATION ${LOOKBACK_NCCL_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${LOOKBACK_NCCL_INCLUDE_DIR})
add_library(lookback::distributed INTERFACE IMPORTED GLOBAL)
target_link_libraries(lookback::distributed INTERFACE lookback::lookback lookback_nccl)
