# SPDX-License-Identifier: MIT
# cmake [-D STATUS=0] [-D OUTPUT=text] [-D ERROR=text] -P expect.cmake -- program [argument...]
#
# Fails unless the program exits with STATUS, has OUTPUT among the whole lines of its standard output and
# ERROR among those of its standard error. Where the program finds no GPU, the failure repeats its message
# for CTest's SKIP_REGULAR_EXPRESSION.
cmake_minimum_required(VERSION 3.25)

set(command)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()
if(NOT DEFINED STATUS)
  set(STATUS 0)
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
message("${output}${error}")

if(NOT status STREQUAL STATUS)
  message(FATAL_ERROR "exit status ${status}, expected ${STATUS}")
endif()
string(FIND "\n${output}" "\n${OUTPUT}\n" output_found)
if(DEFINED OUTPUT AND output_found EQUAL -1)
  message(FATAL_ERROR "not on standard output:\n${OUTPUT}")
endif()
string(FIND "\n${error}" "\n${ERROR}\n" error_found)
if(DEFINED ERROR AND error_found EQUAL -1)
  message(FATAL_ERROR "not on standard error:\n${ERROR}")
endif()
