# SPDX-License-Identifier: MIT
# cmake -D NVCC=<nvcc> -D SOURCE=<refused_calls.cu> -D INCLUDE=<include/> -D WORK=<directory> -P refused_calls.cmake
# Fails unless nvcc refuses every call in SOURCE, each with the message that says what to do. One run of nvcc, which ends
# at the errors: what must compile beside these calls is in the GPU tests.
cmake_minimum_required(VERSION 3.25)

file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${NVCC} -std=c++17 --extended-lambda -arch=compute_90 -ptx -I ${INCLUDE} ${SOURCE}
                        -o ${WORK}/refused_calls.ptx
                RESULT_VARIABLE status OUTPUT_VARIABLE errors ERROR_VARIABLE errors)
if(status EQUAL 0)
  message(FATAL_ERROR "nvcc must refuse ${SOURCE}, and compiled it")
endif()

function(expect_refusals count words)
  string(REGEX MATCHALL "error: [^\n]*${words}" refusals "${errors}")
  list(LENGTH refusals found)
  if(NOT found EQUAL count)
    message(FATAL_ERROR "the message \"${words}\" occurs ${found} times, expected ${count}:\n${errors}")
  endif()
  message(STATUS "\"${words}\": ${count} calls")
endfunction()
expect_refusals(9 "which is unknown on the host for an extended __device__ lambda. Pass a function object, a __host__ __device__ lambda, or cuda::proclaim_return_type<T>\\(lambda\\)")
expect_refusals(2 "ExclusiveScanByKey: the initial value must be a value that the host knows")
expect_refusals(2 "FutureValue of another type than the template argument")
expect_refusals(1 "lookback::with_total: scans by key have no total")
expect_refusals(2 "OffsetsFromCounts: offsets have no reverse")
expect_refusals(1 "offsets must have an integer type")
expect_refusals(2 "lookback::device_count: this call needs a number of items that the host knows")
expect_refusals(1 "lookback::reverse: the host must know the number of items")
expect_refusals(2 "lookback::reverse: selections have no reverse")
expect_refusals(1 "lookback::reverse: pass reverse iterators to scans with a policy")
