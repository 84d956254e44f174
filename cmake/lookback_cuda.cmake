# SPDX-License-Identifier: MIT
# Enables CUDA for lookback's own tests and comparison when a CUDA compiler is found, also outside PATH. Sets
#   lookback_gpu_programs   whether programs that need a GPU are built: with a GPU, for architectures that were
#                           asked for, and under LOOKBACK_VERIFY
#   lookback_compile_only   whether their kernels are compiled for errors and warnings alone
#   lookback_gpu_found      whether nvidia-smi names a GPU
#   lookback_architectures_in_turn
#                           each such program is compiled for the next of these
# and defines
#   lookback_gpu_program(name source...)   an executable; under LOOKBACK_VERIFY, an object library of its sources' PTX
include(CheckLanguage)
set(lookback_gpu_programs FALSE)
set(lookback_compile_only FALSE)
set(lookback_gpu_found FALSE)
if(LOOKBACK_NVCC AND NOT DEFINED ENV{CUDACXX}) # found by lookback_cccl.cmake
  set(ENV{CUDACXX} ${LOOKBACK_NVCC})
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "lookback: no CUDA compiler found (CUDACXX, PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda, build/cuda); only lookback::host is built")
  return()
endif()

execute_process(COMMAND nvidia-smi --list-gpus OUTPUT_VARIABLE lookback_gpus ERROR_QUIET)
if(lookback_gpus MATCHES "GPU 0")
  set(lookback_gpu_found TRUE)
endif()
if(LOOKBACK_VERIFY)
  # Tests of kernels for one architecture in turn of those whose code or tuning differs, as PTX: 89 has the code of 86, and
  # 100 that of 90. Everything else for 90. Machine code takes as long again; checks_architectures has it, of all of them.
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  set(lookback_architectures_in_turn 75-virtual 80-virtual 86-virtual 90-virtual 120-virtual)
  set(lookback_gpu_programs TRUE)
  set(lookback_compile_only TRUE)
elseif(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
  set(lookback_gpu_programs TRUE)
elseif(lookback_gpu_found)
  set(CMAKE_CUDA_ARCHITECTURES native)
  set(lookback_gpu_programs TRUE)
else()
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  set(lookback_compile_only TRUE)
  message(STATUS "lookback: no GPU found by nvidia-smi; tests that need one are reported as skipped")
endif()
enable_language(CUDA)
if(lookback_compile_only)
  # A third of the time: in a hurry, and the host's part unoptimised.
  string(REPLACE "-O3" "-O0 --Ofast-compile=max" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
endif()

function(lookback_gpu_program name)
  if(LOOKBACK_VERIFY)
    # nvcc's pass for the device reads all that its pass for the host does, and takes half the time of both. What g++ says
    # of the host's code, and the link, are seen where the program can run.
    add_library(${name} OBJECT ${ARGN})
    set_target_properties(${name} PROPERTIES CUDA_PTX_COMPILATION ON)
  else()
    add_executable(${name} ${ARGN})
  endif()
endfunction()
