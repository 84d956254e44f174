# SPDX-License-Identifier: MIT
# cmake -D NM=<nm> -D OBJECTS=<two object files, separated by |> -D NAMES=<regular expression> -P own_symbols.cmake
# The two have no symbol of lookback in common that matches NAMES: of two with the same name, the linker would keep one, and
# one object's code would run with the other's default stream or kernels. `<lookback>` in NAMES is namespace lookback as it
# is mangled.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "<lookback>" "8lookback[0-9]+v[0-9_]+_sm[0-9]+" names "${NAMES}")

string(REPLACE "|" ";" objects "${OBJECTS}")
list(LENGTH objects count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "expected two object files: ${OBJECTS}")
endif()
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "${names}" found "${symbols}")
  list(REMOVE_DUPLICATES found)
  if(NOT found)
    message(FATAL_ERROR "${object} has no symbol ${NAMES}; this check finds nothing to compare")
  endif()
  foreach(name IN LISTS found)
    if(name IN_LIST seen)
      message(SEND_ERROR "both objects have ${name}")
    endif()
  endforeach()
  set(seen ${found})
endforeach()
list(LENGTH seen count)
message(STATUS "${count} symbols ${NAMES}, none in both objects")
