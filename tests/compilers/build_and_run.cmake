# SPDX-License-Identifier: MIT
# cmake -D COMPILER=<C++ compiler> -D FLAGS=<list> -D MAIN=<object file with doctest's main> -D WORK=<directory> -P build_and_run.cmake
# Fails, naming compiler, source and flags, where one of the programs below does not compile without a warning or does not pass.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# Source, standard, optimisation. (clang 14 to 16 know C++23 as c++2b alone, and later ones still do.)
set(builds "scans c++17 -O2" "types c++20 -O3" "scans c++20 -O1" "types c++2b -O0")
foreach(build IN LISTS builds)
  string(REPLACE " " ";" parts ${build})
  list(GET parts 0 source)
  list(GET parts 1 standard)
  list(GET parts 2 level)
  set(program ${WORK}/${source}.${standard}${level})
  execute_process(COMMAND ${COMPILER} -std=${standard} ${level} ${FLAGS} ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp ${MAIN} -o ${program}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${COMPILER} does not compile ${source}.cpp with -std=${standard} ${level}:\n${output}")
  endif()
  execute_process(COMMAND ${program} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${source}.cpp, compiled by ${COMPILER} with -std=${standard} ${level}, fails:\n${output}")
  endif()
  message(STATUS "${COMPILER} -std=${standard} ${level}: ${source}.cpp compiles and passes")
endforeach()
