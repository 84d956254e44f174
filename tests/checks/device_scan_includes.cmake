# SPDX-License-Identifier: MIT
# cmake -D NVCC=<nvcc> -D INCLUDE=<include/> -D WORK=<directory> -P device_scan_includes.cmake
# Fails if a door of CUB's shape takes in a header of Thrust or CUB.
cmake_minimum_required(VERSION 3.25)

function(thrust_and_cub_headers header result)
  file(WRITE ${WORK}/${header}.cu "#include <${header}>\n")
  execute_process(COMMAND ${NVCC} -std=c++17 -arch=sm_90 -I ${INCLUDE} -M ${WORK}/${header}.cu
                  OUTPUT_VARIABLE dependencies COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dependencies MATCHES "/${header}")
    message(FATAL_ERROR "nvcc -M does not list ${header}:\n${dependencies}")
  endif()
  string(REGEX MATCHALL "/include/(cccl/)?(thrust|cub)/[^ \n]+" found "${dependencies}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# The check sees what it looks for.
foreach(header thrust/scan.h cub/device/device_scan.cuh)
  thrust_and_cub_headers(${header} found)
  if(NOT found MATCHES "/${header}")
    message(FATAL_ERROR "<${header}> is not recognised as a header of Thrust or CUB")
  endif()
endforeach()

foreach(door device_scan device_select device_partition distributed_scan)
  thrust_and_cub_headers(lookback/${door}.cuh found)
  if(found)
    message(FATAL_ERROR "<lookback/${door}.cuh> includes ${found}")
  endif()
endforeach()
