# SPDX-License-Identifier: MIT
# Defines lookback::cccl, what a C++ compiler needs for Thrust. nvcc brings its own copy, so the target adds nothing to
# CUDA sources. Shared by the build tree and the installed package.
if(TARGET lookback::cccl)
  return()
endif()
find_package(Threads REQUIRED)

# NVIDIA's packages of PyPI, which cmake/set_up.sh installs where there is no toolkit.
file(GLOB lookback_toolkit_from_pypi
     ${CMAKE_CURRENT_LIST_DIR}/../build/cuda/lib/python3*/site-packages/nvidia/cu13)
# Not by find_package(CUDAToolkit): CMake 3.25's stops with an error at CUDA 13, which has no nvToolsExt.
find_program(LOOKBACK_NVCC NAMES ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} nvcc
             HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${lookback_toolkit_from_pypi}
             PATH_SUFFIXES bin DOC "The CUDA compiler")
set(lookback_toolkit /usr/local/cuda ${lookback_toolkit_from_pypi})
if(LOOKBACK_NVCC)
  file(REAL_PATH ${LOOKBACK_NVCC} lookback_toolkit)
  cmake_path(APPEND lookback_toolkit ../..)
endif()
find_path(LOOKBACK_CCCL_INCLUDE_DIR thrust/version.h HINTS ${lookback_toolkit} PATH_SUFFIXES include/cccl include
          DOC "The directory of CCCL that holds thrust/, cub/ and cuda/")
find_path(LOOKBACK_CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS ${lookback_toolkit} PATH_SUFFIXES include
          DOC "The directory of the CUDA runtime's headers")
mark_as_advanced(LOOKBACK_NVCC LOOKBACK_CUDA_INCLUDE_DIR)
if(NOT LOOKBACK_CCCL_INCLUDE_DIR)
  message(FATAL_ERROR "lookback needs the headers of CCCL 3.0 or newer, and found none. Install the CUDA toolkit 13.0, or run "
                      "cmake/set_up.sh, which installs them from PyPI. If CCCL is in another directory, set "
                      "LOOKBACK_CCCL_INCLUDE_DIR to the directory that contains thrust/, cub/ and cuda/.")
endif()

file(STRINGS "${LOOKBACK_CCCL_INCLUDE_DIR}/thrust/version.h" lookback_thrust_version
     REGEX "#define THRUST_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" lookback_thrust_version "${lookback_thrust_version}")
if(lookback_thrust_version LESS 300000)
  message(FATAL_ERROR "lookback needs CCCL 3.0 or newer; ${LOOKBACK_CCCL_INCLUDE_DIR} has THRUST_VERSION "
                      "${lookback_thrust_version}. Set LOOKBACK_CCCL_INCLUDE_DIR to the directory of a newer version.")
endif()

add_library(lookback::cccl INTERFACE IMPORTED GLOBAL)
target_include_directories(lookback::cccl INTERFACE
                           $<$<COMPILE_LANGUAGE:CXX>:${LOOKBACK_CCCL_INCLUDE_DIR}>)
# Thrust's device system is CUDA unless told otherwise, and its headers then need the CUDA runtime's. Both compilers of
# one program must agree on it, so it is another only where there is no CUDA.
if(LOOKBACK_CUDA_INCLUDE_DIR)
  target_include_directories(lookback::cccl INTERFACE
                             $<$<COMPILE_LANGUAGE:CXX>:${LOOKBACK_CUDA_INCLUDE_DIR}>)
else()
  target_compile_definitions(lookback::cccl INTERFACE
                             $<$<COMPILE_LANGUAGE:CXX>:THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP>)
endif()
