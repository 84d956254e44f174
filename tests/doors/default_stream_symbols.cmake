# SPDX-License-Identifier: MIT
# cmake -D NM=<nm> -D OBJECTS=<two object files, separated by |> -P default_stream_symbols.cmake
# Units with different default streams share no function that chooses a stream: of two that have the
# same name, the linker would keep one, and one unit would scan on the other's stream.
cmake_minimum_required(VERSION 3.25)
set(chooses_stream "_ZN?K?8lookback6detail([A-Za-z0-9_]*[a-z])?(3run|6run_by|8run_call|9scan_call|11stream_here)[A-Za-z0-9_]*"
    "|_ZN8lookback6detail13unit_launcher[A-Za-z0-9_]*")
string(CONCAT chooses_stream ${chooses_stream})

string(REPLACE "|" ";" objects "${OBJECTS}")
list(LENGTH objects count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "expected two object files: ${OBJECTS}")
endif()
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "${chooses_stream}" names "${symbols}")
  list(REMOVE_DUPLICATES names)
  if(NOT names)
    message(FATAL_ERROR "${object} has no function that chooses a stream; this check finds nothing to compare")
  endif()
  foreach(name IN LISTS names)
    if(name IN_LIST seen)
      message(SEND_ERROR "both units have ${name}")
    endif()
  endforeach()
  set(seen ${names})
endforeach()
list(LENGTH seen count)
message(STATUS "${count} functions that choose a stream, none in both units")
