# SPDX-License-Identifier: MIT
# Enables CUDA for lookback's own tests and comparison when a CUDA compiler is found, also outside PATH.
include(CheckLanguage)
if(LOOKBACK_NVCC AND NOT DEFINED ENV{CUDACXX}) # found by lookback_cccl.cmake
  set(ENV{CUDACXX} ${LOOKBACK_NVCC})
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "lookback: no CUDA compiler; only what lookback::host needs is built")
  return()
endif()

# What nobody here can run, for want of a GPU, is compiled all the same, for its errors and warnings, but in a third of the time: in a
# hurry, the host's part unoptimised, and not to machine code, which checks_architectures is.
set(lookback_kernels_only_compile FALSE)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  execute_process(COMMAND nvidia-smi --list-gpus OUTPUT_VARIABLE lookback_gpus ERROR_QUIET)
  if(lookback_gpus MATCHES "GPU 0")
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
    set(lookback_kernels_only_compile TRUE)
  endif()
endif()
enable_language(CUDA)
if(lookback_kernels_only_compile)
  string(REPLACE "-O3" "-O0 --Ofast-compile=max" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
endif()
