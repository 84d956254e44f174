# SPDX-License-Identifier: MIT
# cmake -D NVCC=<nvcc> -D INCLUDE=<include/> -D WORK=<directory> -P compile_time.cmake
# Compiles one call of lookback::DeviceScan::InclusiveSum and the same source with cub::DeviceScan, three times each in
# turn, and fails if lookback's best time is above 0.6 of CUB's.
cmake_minimum_required(VERSION 3.25)
set(most_permille 600)
unset(ENV{SOURCE_DATE_EPOCH}) # it would stop the clock of string(TIMESTAMP)

function(write_source name header)
  file(WRITE ${WORK}/${name}.cu
"#include <${header}>

cudaError_t inclusive_sum(void* temporary, std::size_t& bytes, const int* input, int* output, int count) {
  return ${name}::DeviceScan::InclusiveSum(temporary, bytes, input, output, count);
}
")
endfunction()
write_source(lookback lookback/device_scan.cuh)
write_source(cub cub/device/device_scan.cuh)

function(compile name best)
  string(TIMESTAMP start "%s%f")
  execute_process(COMMAND ${NVCC} -std=c++17 -arch=sm_90 -O3 -I ${INCLUDE} -c ${WORK}/${name}.cu
                          -o ${WORK}/${name}.o COMMAND_ERROR_IS_FATAL ANY)
  string(TIMESTAMP end "%s%f")
  math(EXPR milliseconds "(${end} - ${start}) / 1000")
  if(NOT ${best} OR milliseconds LESS ${best})
    set(${best} ${milliseconds} PARENT_SCOPE)
  endif()
endfunction()

foreach(run RANGE 1 3)
  compile(lookback lookback_best)
  compile(cub cub_best)
endforeach()
math(EXPR permille "1000 * ${lookback_best} / ${cub_best}")
message(STATUS "lookback ${lookback_best} ms, cub ${cub_best} ms, ratio ${permille}/1000")
if(permille GREATER most_permille)
  message(FATAL_ERROR "the ratio is above ${most_permille}/1000")
endif()
