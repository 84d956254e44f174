# SPDX-License-Identifier: MIT
# cmake -D WORK=<directory> -P layers_test.cmake
# layers.cmake itself: it passes a clean tree and names each violation put into that tree.
cmake_minimum_required(VERSION 3.25)

function(write_clean_tree)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/lookback/core/config.cuh "#define LOOKBACK_ABI v1\n")
  file(WRITE ${WORK}/lookback/core/tree.cuh
       "int plasma, asm_free, x = launch.blockDim.x;\n#include <lookback/core/config.cuh>\n")
  file(WRITE ${WORK}/lookback/arch/simt.cuh
       "#include <lookback/core/tree.cuh>\ninline void barrier() { __syncthreads(); asm(\"\"); }\n")
  file(WRITE ${WORK}/lookback/block/row.cuh
       "// asm and threadIdx in a comment\n/* so is\n atomicAdd */ /* __shfl */\n#include <lookback/arch/simt.cuh>\n")
  file(WRITE ${WORK}/lookback/tile/staged.cuh "#include <lookback/block/row.cuh>\n")
  file(WRITE ${WORK}/lookback/carry/wave.cuh "#include <lookback/tile/staged.cuh>\n")
  file(WRITE ${WORK}/lookback/strategy/chained.cuh "#include <lookback/carry/wave.cuh>\n")
  file(WRITE ${WORK}/lookback/dispatch/dispatch.cuh "#include <lookback/strategy/chained.cuh>\n")
  file(WRITE ${WORK}/lookback/host/rows.cuh
       "#include <lookback/core/tree.cuh>\n#include <lookback/arch/simt.cuh>\n#include <thread>\n")
  file(WRITE ${WORK}/lookback/distributed/shards.cuh "#include <lookback/host/rows.cuh>\n")
  file(WRITE ${WORK}/lookback/scan.cuh
       "#include <lookback/dispatch/dispatch.cuh>\n#include <lookback/host/rows.cuh>\n")
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

expect_violation(core/tree.cuh "#include <lookback/block/row.cuh>" ":3: core includes block")
expect_violation(core/tree.cuh "#include <lookback/arch/simt.cuh>" ":3: core includes arch")
expect_violation(block/row.cuh "#include <lookback/tile/staged.cuh>" ":5: block includes tile")
expect_violation(tile/staged.cuh "#include <lookback/carry/wave.cuh>" ":2: tile includes carry")
expect_violation(carry/wave.cuh "#include <lookback/strategy/chained.cuh>" ":2: carry includes strategy")
expect_violation(strategy/chained.cuh "#include <lookback/dispatch/dispatch.cuh>" ":2: strategy includes dispatch")
expect_violation(dispatch/dispatch.cuh "#include <lookback/scan.cuh>" ":2: dispatch includes door")
expect_violation(dispatch/dispatch.cuh "# include <lookback/host/rows.cuh>" ":2: dispatch includes host")
expect_violation(host/rows.cuh "#include <lookback/block/row.cuh>" ":4: host includes block")
expect_violation(host/rows.cuh "#include <lookback/carry/look_back.cuh>" ":4: host includes carry")
expect_violation(host/rows.cuh "#include <lookback/distributed/shards.cuh>" ":4: host includes distributed")
expect_violation(distributed/shards.cuh "#include <lookback/scan.cuh>" ":2: distributed includes door")
expect_violation(core/tree.cuh "#include \"simt.cuh\"" ":3: included with quotes")
expect_violation(core/free.cuh "namespace lookback {\ninline namespace LOOKBACK_ABI {" ": includes no header of lookback")
expect_violation(core/tree.cuh "namespace lookback { namespace detail {" ":3: namespace lookback without")
expect_violation(core/tree.cuh "namespace lookback { // why\nnamespace detail {" ":4: namespace lookback without")
expect_violation(core/tree.cuh "namespace lookback::detail {" ":3: namespace lookback without")
expect_violation(core/tree.cuh "namespace lookback {\nnamespace detail {" ":4: namespace lookback without")
expect_violation(extra/x.cuh "" ": unknown layer extra")
expect_violation(tile/row.cuh "" ": has the base name of lookback/block/row.cuh")
foreach(word "asm volatile(\"\"\\;)" "__shfl_up_sync(m, v, 1)" "__ballot_sync(m, p)" "__syncthreads()"
             "__syncwarp()" "threadIdx.x" "blockIdx.x" "atomicAdd(p, 1)" "atomicCAS_system(p, 0, 1)"
             "__threadfence()" "__nanosleep(8)" "__popc(x)" "__dp4a(a, b, c)" "__ldcg(p)" "__vadd2(a, b)")
  string(REGEX MATCH "^[A-Za-z0-9_]+" name "${word}")
  expect_violation(core/tree.cuh "int x = 0, y = ${word}\;" ":3: ${name} outside arch/")
endforeach()
