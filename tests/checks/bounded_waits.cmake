# SPDX-License-Identifier: MIT
# cmake -D NVCC=<nvcc> -D INCLUDE=<include/> -D WORK=<directory> -P bounded_waits.cmake
# Kernels bound their waits with LOOKBACK_DEBUG and in device code built for debugging (-G), and not
# otherwise, whatever NDEBUG says.
cmake_minimum_required(VERSION 3.25)
file(WRITE ${WORK}/bounded_waits.cu
     "#include <lookback/core/config.cuh>\nint waits_are_bounded = LOOKBACK_BOUNDS_SPINS;\n")

function(expect bounded)
  execute_process(COMMAND ${NVCC} -std=c++17 -arch=sm_90 -O3 -I ${INCLUDE} ${ARGN} -E ${WORK}/bounded_waits.cu
                  OUTPUT_VARIABLE preprocessed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "waits_are_bounded = ([01])" found "${preprocessed}")
  if(NOT CMAKE_MATCH_1 STREQUAL bounded)
    message(SEND_ERROR "nvcc ${ARGN}: expected waits_are_bounded = ${bounded}, found '${found}'")
  endif()
endfunction()
expect(0)
expect(0 -DNDEBUG)
expect(1 -G)
expect(1 -DLOOKBACK_DEBUG)
expect(1 -DLOOKBACK_DEBUG -DNDEBUG)
