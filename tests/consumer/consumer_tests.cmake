# SPDX-License-Identifier: MIT
# The outside project in this directory, built against the installed package and against the source tree, and a plain
# copy of include/ used by the C++ compiler alone.
set(consumer_dir ${CMAKE_CURRENT_LIST_DIR})
set(consumer_options -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                     -DLOOKBACK_CCCL_INCLUDE_DIR=${LOOKBACK_CCCL_INCLUDE_DIR})
if(CMAKE_CUDA_COMPILER)
  list(APPEND consumer_options -DCONSUMER_CUDA=ON -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}
       -DCMAKE_CUDA_ARCHITECTURES=75-virtual) # which runs on every supported GPU
else()
  list(APPEND consumer_options -DCONSUMER_CUDA=OFF)
endif()

function(lookback_consumer_test name)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/consumer/${name})
  # A fresh build each time: a file left from an earlier run could hide one that is missing now.
  add_test(NAME consumer.${name}.clean COMMAND ${CMAKE_COMMAND} -E rm -rf ${work})
  add_test(NAME consumer.${name}.build
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${consumer_dir} ${work}
                   --build-generator ${CMAKE_GENERATOR} --build-options ${consumer_options} ${ARGN})
  add_test(NAME consumer.${name}.host COMMAND ${work}/host)
  set_tests_properties(consumer.${name}.clean PROPERTIES LABELS host FIXTURES_SETUP consumer_${name}_clean)
  set_tests_properties(consumer.${name}.build PROPERTIES LABELS host FIXTURES_SETUP consumer_${name}
                       FIXTURES_REQUIRED "consumer_${name}_clean;lookback_${name}")
  set_tests_properties(consumer.${name}.host PROPERTIES LABELS host FIXTURES_REQUIRED consumer_${name})
  if(CMAKE_CUDA_COMPILER)
    add_test(NAME consumer.${name}.gpu COMMAND ${work}/gpu)
    set_tests_properties(consumer.${name}.gpu PROPERTIES LABELS gpu FIXTURES_REQUIRED consumer_${name}
                         SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  endif()
endfunction()

set(prefix ${CMAKE_CURRENT_BINARY_DIR}/consumer/prefix)
add_test(NAME consumer.uninstall COMMAND ${CMAKE_COMMAND} -E rm -rf ${prefix})
add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
set_tests_properties(consumer.uninstall PROPERTIES LABELS host FIXTURES_SETUP lookback_uninstalled)
set_tests_properties(consumer.install PROPERTIES LABELS host FIXTURES_SETUP lookback_package
                     FIXTURES_REQUIRED lookback_uninstalled)
lookback_consumer_test(package -DCMAKE_PREFIX_PATH=${prefix})
lookback_consumer_test(subdirectory -DLOOKBACK_SOURCE_DIR=${PROJECT_SOURCE_DIR})

add_test(NAME consumer.plain_copy
         COMMAND ${CMAKE_COMMAND} -D COMPILER=${CMAKE_CXX_COMPILER} -D INCLUDE=${PROJECT_SOURCE_DIR}/include
                 -D CCCL=${LOOKBACK_CCCL_INCLUDE_DIR} -D SOURCE=${consumer_dir}/host.cpp
                 -D WORK=${CMAKE_CURRENT_BINARY_DIR}/consumer/plain_copy -P ${consumer_dir}/plain_copy.cmake)
set_tests_properties(consumer.plain_copy PROPERTIES LABELS host)
