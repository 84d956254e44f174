# SPDX-License-Identifier: MIT
# cmake -D NVCC=<nvcc> -D INCLUDE=<include/> -D WORK=<directory> [-D ONLY=<name>] -P compile_time.cmake
# Compiles one call of lookback's and the same call of CUB's or Thrust's, both at the same time, and fails
# if lookback's least time is above a limit times the other's. Times are the processor's. Other work
# beside them still counts: one and the same compilation has taken 13 to 19 s, and a ratio of 1.25
# has grown to 1.34. So CTest runs this alone, and what is left slows both. Noise
# only adds time, so after five rounds there are more, up to twenty, while the least times are above
# the limit. (On a machine whose processors others used, too, twelve rounds gave 1.39, and 1.19 two
# minutes later.) The two take turns to start first.
cmake_minimum_required(VERSION 3.25)
set(rounds 5)
set(rounds_at_most 20)

# The shell's own times come first, then those of what it ran.
set(timed [[source=$1 && shift && "$@" -c "$source.cu" -o "$source.o" && times >"$source.times"]])

# compile(source_a source_b): compiles both; the compilers' times are in <source>.times.
function(compile)
  foreach(source IN LISTS ARGN)
    list(APPEND both COMMAND sh -c "${timed}" sh ${WORK}/${source} ${NVCC} -std=c++17 -arch=sm_90 -O3
                             -I ${INCLUDE})
  endforeach()
  execute_process(${both} COMMAND_ERROR_IS_FATAL ANY) # at the same time
endfunction()

# least(source best): the least milliseconds of user and system time, so far.
function(least source best)
  file(READ ${WORK}/${source}.times times)
  string(REGEX MATCHALL "[0-9]+m[0-9]+[.][0-9]+s" found "${times}")
  list(LENGTH found count)
  if(NOT count EQUAL 4)
    message(FATAL_ERROR "the shell's `times` printed no times: '${times}'")
  endif()
  set(milliseconds 0)
  foreach(index 2 3)
    list(GET found ${index} time)
    string(REGEX MATCH "^([0-9]+)m([0-9]+)[.]([0-9]+)s$" time "${time}")
    string(SUBSTRING "${CMAKE_MATCH_3}00" 0 3 thousandths)
    math(EXPR milliseconds "${milliseconds} + 60000 * ${CMAKE_MATCH_1} + 1000 * ${CMAKE_MATCH_2} \
                            + 1${thousandths} - 1000") # 1 before it: 08 is no number
  endforeach()
  if(NOT DEFINED ${best} OR milliseconds LESS ${best})
    set(${best} ${milliseconds} PARENT_SCOPE)
  endif()
endfunction()

# compare(name at_most ours theirs): sources `ours` and `theirs`; lookback's time in thousandths of the other's.
function(compare name at_most ours theirs)
  if(DEFINED ONLY AND NOT ONLY STREQUAL name)
    return()
  endif()
  file(WRITE ${WORK}/${name}_lookback.cu "${ours}")
  file(WRITE ${WORK}/${name}_other.cu "${theirs}")
  set(done 0)
  foreach(round RANGE 1 ${rounds_at_most})
    math(EXPR turn "${round} % 2")
    if(turn EQUAL 0)
      compile(${name}_lookback ${name}_other)
    else()
      compile(${name}_other ${name}_lookback)
    endif()
    least(${name}_lookback ours_best)
    least(${name}_other theirs_best)
    math(EXPR permille "1000 * ${ours_best} / ${theirs_best}")
    math(EXPR done "${done} + 1")
    if(done GREATER_EQUAL rounds AND permille LESS_EQUAL at_most)
      break()
    endif()
  endforeach()
  message(STATUS "${name}: lookback ${ours_best} ms, the other ${theirs_best} ms, "
                 "ratio ${permille}/1000, at most ${at_most}, ${done} rounds")
  if(permille GREATER at_most)
    message(SEND_ERROR "${name}: lookback's compile time is above ${at_most}/1000 of the other library's")
  endif()
endfunction()

set(device_scan
"cudaError_t inclusive_sum(void* temporary, std::size_t& bytes, const int* input, int* output, int count) {
  return NAMESPACE::DeviceScan::InclusiveSum(temporary, bytes, input, output, count);
}
")
string(REPLACE NAMESPACE lookback ours "#include <lookback/device_scan.cuh>\n${device_scan}")
string(REPLACE NAMESPACE cub theirs "#include <cub/device/device_scan.cuh>\n${device_scan}")
compare(device_scan 600 "${ours}" "${theirs}")

# The same of Thrust's calls, by its policy and by lookback's.
function(compare_with_thrust name at_most call)
  set(call "#include <thrust/scan.h>\n${call}")
  string(REPLACE POLICY lookback::par ours "#include <lookback/execution_policy.cuh>\n${call}")
  string(REPLACE POLICY thrust::cuda::par theirs "#include <thrust/execution_policy.h>\n${call}")
  compare(${name} ${at_most} "${ours}" "${theirs}")
endfunction()
compare_with_thrust(thrust_8_bytes 1300
"using T = long long;
T* scan(const T* first, const T* last, T* result) { return thrust::inclusive_scan(POLICY, first, last, result); }
")
compare_with_thrust(thrust_pairs 1300
"#include <thrust/pair.h>
using T = thrust::pair<int, int>;
struct add_pairs {
  __host__ __device__ T operator()(const T& a, const T& b) const { return T(a.first + b.first, a.second + b.second); }
};
T* inclusive(const T* first, const T* last, T* result) {
  return thrust::inclusive_scan(POLICY, first, last, result, add_pairs{});
}
T* exclusive(const T* first, const T* last, T* result, T initial) {
  return thrust::exclusive_scan(POLICY, first, last, result, initial, add_pairs{});
}
")
