# SPDX-License-Identifier: MIT
# lookback_host_test(name source...)  compiled by the C++ compiler; label host
# lookback_gpu_test(name source...)   compiled by nvcc; label gpu; skipped by CTest where there is no GPU
# lookback_dual_test(name source...)  the same sources as name.host and as name.gpu
# A source given to lookback_gpu_test is CUDA in its whole directory: for both compilers use lookback_dual_test.
# The sources use doctest; the main functions are tests/support/{host,gpu}_main.cpp.
# Without a CUDA compiler the tests of nvcc do not exist.
find_package(doctest REQUIRED)

add_library(lookback_host_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/host_main.cpp)
target_link_libraries(lookback_host_main PUBLIC doctest::doctest PRIVATE lookback_warnings)
target_compile_features(lookback_host_main PRIVATE cxx_std_17)
if(CMAKE_CUDA_COMPILER)
  add_library(lookback_gpu_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
  target_link_libraries(lookback_gpu_main PUBLIC doctest::doctest PRIVATE lookback_warnings)
  target_compile_features(lookback_gpu_main PRIVATE cxx_std_17)
  target_include_directories(lookback_gpu_main SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
endif()

function(lookback_add_test name main label)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lookback::lookback lookback_warnings ${main})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label})
endfunction()

function(lookback_host_test name)
  lookback_add_test(${name} lookback_host_main host ${ARGN})
endfunction()

function(lookback_gpu_test name)
  if(NOT CMAKE_CUDA_COMPILER)
    return()
  endif()
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  lookback_add_test(${name} lookback_gpu_main gpu ${ARGN})
  # One at a time: a test may ask for most of the GPU's memory.
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
endfunction()

function(lookback_dual_test name)
  lookback_host_test(${name}.host ${ARGN})
  # A source file has one language per directory, so nvcc gets a file that includes it.
  set(includers)
  foreach(source IN LISTS ARGN)
    set(includer ${CMAKE_CURRENT_BINARY_DIR}/${name}.sources/${source}.cu)
    file(CONFIGURE OUTPUT ${includer} CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
    list(APPEND includers ${includer})
  endforeach()
  lookback_gpu_test(${name}.gpu ${includers})
endfunction()
