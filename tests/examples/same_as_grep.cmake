# SPDX-License-Identifier: MIT
# cmake -D PROGRAM=filter_log -D GREP=grep -D WORD=text -D FILE=path -D CHUNK_BYTES=1,2,3 -D RESULTS=prefix
#       -P same_as_grep.cmake
#
# Fails unless filter_log, with every one of the chunk sizes, writes the same bytes as grep. Where the program finds
# no GPU, its message is repeated for CTest's SKIP_REGULAR_EXPRESSION.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${GREP} -a -F -e "${WORD}" ${FILE}
                RESULT_VARIABLE status OUTPUT_FILE ${RESULTS}.grep)
if(NOT status MATCHES "^[01]$") # 1: no line contains the word
  message(FATAL_ERROR "grep's exit status is ${status}")
endif()

string(REPLACE "," ";" CHUNK_BYTES "${CHUNK_BYTES}")
foreach(chunk_bytes IN LISTS CHUNK_BYTES)
  execute_process(COMMAND ${PROGRAM} "${WORD}" ${FILE} ${chunk_bytes}
                  RESULT_VARIABLE status OUTPUT_FILE ${RESULTS}.filter_log ERROR_VARIABLE error)
  message("${error}")
  if(status EQUAL 77)
    file(READ ${RESULTS}.filter_log output)
    message("${output}")
  endif()
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status} with chunks of ${chunk_bytes} bytes")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${RESULTS}.filter_log ${RESULTS}.grep
                  RESULT_VARIABLE different)
  if(different)
    message(FATAL_ERROR "other bytes than grep's with chunks of ${chunk_bytes} bytes: "
                        "${RESULTS}.filter_log, ${RESULTS}.grep")
  endif()
endforeach()
file(REMOVE ${RESULTS}.filter_log ${RESULTS}.grep)
