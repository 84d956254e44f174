# SPDX-License-Identifier: MIT
# cmake -D WORK=<directory> -P layers_test.cmake
# layers.cmake itself: it passes a clean tree and names each violation put into that tree.
cmake_minimum_required(VERSION 3.25)

function(write_clean_tree)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/lookback/core/simt.cuh "inline void barrier() { __syncthreads(); asm(\"\"); }\n")
  file(WRITE ${WORK}/lookback/block/row.cuh
       "// asm and threadIdx in a comment\n/* so is\n atomicAdd */ /* __shfl */\n#include <lookback/core/simt.cuh>\n")
  file(WRITE ${WORK}/lookback/device/tile_state.cuh
       "#include <lookback/block/row.cuh>\nint plasma, asm_free, x = launch.blockDim.x;\n")
  file(WRITE ${WORK}/lookback/dispatch/dispatch.cuh "#include <lookback/device/tile_state.cuh>\n")
  file(WRITE ${WORK}/lookback/host/scan.cuh
       "#include <lookback/device/tile_state.cuh>\n#include <lookback/core/simt.cuh>\n#include <thread>\n")
  file(WRITE ${WORK}/lookback/scan.cuh
       "#include <lookback/dispatch/dispatch.cuh>\n#include <lookback/host/scan.cuh>\n")
endfunction()

function(run_layers result errors)
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${WORK} -P ${CMAKE_CURRENT_LIST_DIR}/layers.cmake
                  RESULT_VARIABLE code ERROR_VARIABLE text OUTPUT_QUIET)
  set(${result} ${code} PARENT_SCOPE)
  set(${errors} "${text}" PARENT_SCOPE)
endfunction()

function(expect_violation path content message)
  write_clean_tree()
  file(APPEND ${WORK}/lookback/${path} "${content}\n")
  run_layers(code errors)
  string(FIND "${errors}" "lookback/${path}${message}" found)
  if(code EQUAL 0 OR found EQUAL -1)
    message(SEND_ERROR "lookback/${path} with '${content}' gave ${code}, not '${message}':\n${errors}")
  endif()
endfunction()

write_clean_tree()
run_layers(code errors)
if(NOT code EQUAL 0)
  message(SEND_ERROR "the clean tree gave ${code}:\n${errors}")
endif()

expect_violation(core/tree.cuh "#include <lookback/block/row.cuh>" ":1: core includes block")
expect_violation(block/row.cuh "#include <lookback/device/tile_state.cuh>" ":5: block includes device")
expect_violation(device/tile_state.cuh "#include <lookback/dispatch/dispatch.cuh>"
                 ":3: device includes dispatch")
expect_violation(dispatch/dispatch.cuh "#include <lookback/scan.cuh>" ":2: dispatch includes door")
expect_violation(dispatch/dispatch.cuh "# include <lookback/host/scan.cuh>" ":2: dispatch includes host")
expect_violation(host/scan.cuh "#include <lookback/block/row.cuh>" ":4: host includes block")
expect_violation(host/scan.cuh "#include <lookback/device/look_back.cuh>" ":4: host includes device")
expect_violation(core/tree.cuh "#include \"simt.cuh\"" ":1: included with quotes")
expect_violation(extra/x.cuh "" ": unknown layer extra")
foreach(word "asm volatile(\"\"\\;)" "__shfl_up_sync(m, v, 1)" "__ballot_sync(m, p)" "__syncthreads()"
             "__syncwarp()" "threadIdx.x" "blockIdx.x" "atomicAdd(p, 1)" "atomicCAS_system(p, 0, 1)"
             "__threadfence()" "__nanosleep(8)" "__popc(x)" "__dp4a(a, b, c)" "__ldcg(p)" "__vadd2(a, b)")
  string(REGEX MATCH "^[A-Za-z0-9_]+" name "${word}")
  expect_violation(device/tile_state.cuh "int x = 0, y = ${word}\;" ":3: ${name} outside core/simt*.cuh")
endforeach()
