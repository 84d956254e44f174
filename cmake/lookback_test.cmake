# SPDX-License-Identifier: MIT
# lookback_host_test(name source...)  compiled by the C++ compiler; label host
# lookback_gpu_test(name source...)   compiled by nvcc; label gpu; skipped by CTest where there is no GPU
# lookback_dual_test(name source...)  the same sources as name.host and as name.gpu
# A source given to lookback_gpu_test is CUDA in its whole directory: for both compilers use lookback_dual_test.
# The sources use doctest; the main functions are tests/support/{host,gpu}_main.cpp.
#
# Each test belongs to one of two runs, `test` and, with LOOKBACK_VERIFY, `verify`: what does not say otherwise by
# if(LOOKBACK_VERIFY) is of the first. Programs for a GPU run in the first, or are reported as skipped there without
# having been built; the second compiles each to PTX for one architecture. Those that are declared while
# lookback_gpu_tests_run is set are run in the second.
find_package(doctest REQUIRED)

# Built and run before everything else, so that results show early.
set(lookback_first_tests core.tree host.execution_policy host.operators)
add_custom_target(first_tests)

add_library(lookback_host_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/host_main.cpp)
target_link_libraries(lookback_host_main PUBLIC doctest::doctest PRIVATE lookback_warnings)
target_compile_features(lookback_host_main PRIVATE cxx_std_17)
if(lookback_gpu_programs)
  add_library(lookback_gpu_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
  target_link_libraries(lookback_gpu_main PUBLIC doctest::doctest PRIVATE lookback_warnings)
  target_compile_features(lookback_gpu_main PRIVATE cxx_std_17)
  target_include_directories(lookback_gpu_main SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_include_directories(lookback_gpu_main PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endif()

function(lookback_link_test name main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lookback::lookback lookback_warnings ${main})
endfunction()

# Registers a test that this machine cannot build, and CTest reports as skipped.
function(lookback_skipped_gpu_test name)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: this machine has no GPU or no CUDA compiler")
  set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION "skipped: ")
endfunction()

function(lookback_host_test name)
  add_executable(${name} ${ARGN})
  lookback_link_test(${name} lookback_host_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS host)
  if(name IN_LIST lookback_first_tests)
    set_tests_properties(${name} PROPERTIES LABELS "host;first")
    add_dependencies(first_tests ${name})
  endif()
endfunction()

# Compiles `name` for the next of lookback_architectures_in_turn.
function(lookback_for_next_architecture name)
  if(lookback_architectures_in_turn)
    get_property(turn GLOBAL PROPERTY lookback_architecture_turn)
    list(LENGTH lookback_architectures_in_turn count)
    math(EXPR turn "(0${turn} + 1) % ${count}")
    set_property(GLOBAL PROPERTY lookback_architecture_turn ${turn})
    list(GET lookback_architectures_in_turn ${turn} next)
    set_property(TARGET ${name} PROPERTY CUDA_ARCHITECTURES ${next})
  endif()
endfunction()

function(lookback_gpu_test name)
  set(is_run ${lookback_gpu_programs})
  if(LOOKBACK_VERIFY AND NOT (lookback_gpu_tests_run AND lookback_gpu_found))
    set(is_run FALSE)
  endif()
  if(lookback_gpu_programs)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
    if(is_run)
      add_executable(${name} ${ARGN})
    else()
      lookback_gpu_program(${name} ${ARGN})
    endif()
    lookback_link_test(${name} lookback_gpu_main)
    lookback_for_next_architecture(${name})
  endif()
  if(is_run)
    add_test(NAME ${name} COMMAND ${name})
    # One at a time: a test may ask for most of the GPU's memory.
    set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  elseif(NOT LOOKBACK_VERIFY OR lookback_gpu_tests_run)
    lookback_skipped_gpu_test(${name})
  endif()
endfunction()

function(lookback_dual_test name)
  if(NOT LOOKBACK_VERIFY)
    lookback_host_test(${name}.host ${ARGN})
  endif()
  # A source file has one language per directory, so nvcc gets a file that includes it.
  set(includers)
  foreach(source IN LISTS ARGN)
    set(includer ${CMAKE_CURRENT_BINARY_DIR}/${name}.sources/${source}.cu)
    file(CONFIGURE OUTPUT ${includer} CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
    list(APPEND includers ${includer})
  endforeach()
  lookback_gpu_test(${name}.gpu ${includers})
endfunction()
