# SPDX-License-Identifier: MIT
# cmake -D COMPILER=<C++ compiler> -D FLAGS=<list> -D MAIN=<object file with doctest's main>
#       -D HALF=<0 or 1> -D WORK=<directory> -P build_and_run.cmake
# Compiles and runs one half of the programs below. Fails, naming compiler, source and flags, at the first one
# that has a warning or does not pass.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# Source, standard, optimisation. (c++2b is C++23: clang 14 to 16 know no other name.)
set(builds_0 "scans c++17 -O2" "types c++2b -O0")
set(builds_1 "scans c++20 -O1" "types c++20 -O3")
foreach(build IN LISTS builds_${HALF})
  string(REPLACE " " ";" parts ${build})
  list(GET parts 0 source)
  list(GET parts 1 standard)
  list(GET parts 2 level)
  set(program ${WORK}/${source}.${standard}${level})
  execute_process(COMMAND ${COMPILER} -std=${standard} ${level} ${FLAGS}
                          ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp ${MAIN} -o ${program}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${COMPILER} -std=${standard} ${level}: ${source}.cpp does not compile:\n"
                        "${output}")
  endif()
  execute_process(COMMAND ${program} RESULT_VARIABLE failed
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${COMPILER} -std=${standard} ${level}: ${source}.cpp fails:\n${output}")
  endif()
  message(STATUS "${COMPILER} -std=${standard} ${level}: ${source}.cpp compiles and passes")
endforeach()
