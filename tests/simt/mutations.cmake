# SPDX-License-Identifier: MIT
# cmake -D CXX=<compiler> -D FLAGS=<list> -D OBJECTS=<list> -D SOURCE=<races.cpp> -D INCLUDE=<include/> -D WORK=<directory>
#       [-D ONLY=<name>] -P mutations.cmake
# Breaks one thing at a time in a copy of the headers and requires that the test notices. The unbroken copy must pass: else a
# failure would say nothing. A mutation whose text is not found exactly once is an error: the list follows the headers.
cmake_minimum_required(VERSION 3.25)

set(killed 0)
set(survivors "")

# Builds the test over the headers in WORK/include.
function(build_test)
  execute_process(COMMAND ${CXX} ${FLAGS} -I${WORK}/include ${SOURCE} ${OBJECTS} -o ${WORK}/test
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "does not compile:\n${text}")
  endif()
endfunction()

# Runs it over `percent` of its schedules. `status` is 0, or what the test ended with.
function(run_test status output percent)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0
                          LOOKBACK_SIMT_PERCENT=${percent} ${WORK}/test
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 300)
  set(${status} "${code}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(copy_headers)
  file(REMOVE_RECURSE ${WORK}/include)
  file(COPY ${INCLUDE}/lookback DESTINATION ${WORK}/include)
endfunction()

# mutation(name file old new): `name` says what is broken.
function(mutation name file old new)
  if(DEFINED ONLY AND NOT ONLY STREQUAL name)
    return()
  endif()
  copy_headers()
  set(path ${WORK}/include/lookback/${file})
  file(READ ${path} text)
  string(REPLACE "${old}" "" without "${text}")
  string(LENGTH "${text}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${old}" expected)
  math(EXPR removed "${before} - ${after}")
  if(NOT removed EQUAL expected)
    message(FATAL_ERROR "mutation '${name}': its text does not stand exactly once in ${file}:\n${old}")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  file(WRITE ${path} "${text}")
  message(STATUS "mutation '${name}' ...")
  build_test()
  # Schedules are drawn anew for every run, and some mistakes show in few of them: what one run does not see, another may.
  foreach(percent 50 100 200)
    run_test(status output ${percent})
    set(effort ${percent})
    if(NOT status EQUAL 0)
      break()
    endif()
  endforeach()
  # Killed means that the test said what is wrong and how to see it again: a time-out or a crash of its own is no proof.
  string(REGEX MATCH "SUMMARY: ThreadSanitizer[^\n]*|deadlock[^\n]*|block [0-9]+ [^\n]*|ERROR: (REQUIRE|test case)[^\n]*" reason "${output}")
  if(NOT status EQUAL 0 AND output MATCHES "replay: LOOKBACK_SIMT_SEED=" AND NOT reason STREQUAL "")
    message(STATUS "  killed at ${effort} % of the schedules: ${reason}")
    math(EXPR killed "${killed} + 1")
    set(killed ${killed} PARENT_SCOPE)
  else()
    message(STATUS "  SURVIVED (ended with ${status})\n${output}")
    set(survivors ${survivors} "${name}" PARENT_SCOPE)
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK})
if(NOT DEFINED ONLY)
  copy_headers()
  build_test()
  run_test(status output 100)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the test fails without a mutation (${status}):\n${output}")
  endif()
endif()

# ---- memory orders -------------------------------------------------------------------------------------------------------
mutation("release of a cell's flag relaxed" device/tile_state.cuh
         "Memory::store_release(flags_ + i, 1)" "Memory::store_relaxed(flags_ + i, std::uint32_t{1})")
mutation("acquire of a cell's flag relaxed" device/tile_state.cuh
         "Memory::load_acquire(flags_ + i)" "Memory::load_relaxed(flags_ + i)")
mutation("flag published before the payload" device/tile_state.cuh
         "    construct(values_[i], value);
    Memory::store_release(flags_ + i, 1);"
         "    Memory::store_release(flags_ + i, 1);
    construct(values_[i], value);")
mutation("the second word of a cell not asked whether it is there" device/tile_state.cuh
         "seen_[0].high != 0 && seen_[1].high != 0" "seen_[0].high != 0")

# ---- forward progress ----------------------------------------------------------------------------------------------------
mutation("static block ids instead of tickets" device/decoupled_look_back.cuh
         "simt::fetch_increment(state.next_tile)" "simt::block_index()")

# ---- barriers ------------------------------------------------------------------------------------------------------------
mutation("no wait for the kernel before" device/decoupled_look_back.cuh
         "simt::wait_for_previous_kernel();" "")
mutation("no barrier between the ticket and its use" device/decoupled_look_back.cuh
         "simt::synchronize_block();
    tile = shared.ticket;"
         "tile = shared.ticket;")
mutation("no barrier between the row totals and their use" device/decoupled_look_back.cuh
         "totals[i]);
    simt::synchronize_block();"
         "totals[i]);")
mutation("no barrier between the prefix and its use" device/decoupled_look_back.cuh
         "left.value());
    simt::synchronize_block();"
         "left.value());")
mutation("no cluster barrier between a total and its use" device/cluster.cuh
         "  simt::arrive_at_cluster();
  simt::wait_for_cluster();
  maybe<T> prefix;"
         "  maybe<T> prefix;")
mutation("blocks of a cluster end while others read from them" device/decoupled_look_back.cuh
         "if (clustered) leave_cluster();" "")
mutation("copies to shared memory not waited for" block/transfer.cuh "  simt::wait_for_copies();" "")
mutation("no warp barrier after the fetch" block/transfer.cuh
         "simt::wait_for_copies();
  simt::synchronize_warp();"
         "simt::wait_for_copies();")
mutation("no warp barrier before a row's place is reused" block/transfer.cuh
         "simt::synchronize_warp(); // every lane has read its vector" "")
mutation("no warp barrier between a row's results and their store" block/transfer.cuh
         "vector.get(k));
  simt::synchronize_warp();"
         "vector.get(k));")
mutation("no warp barrier before an exchange" block/warp_shuffle.cuh
         "simt::synchronize_warp(); // everyone is done with the references of the exchange before" "")
mutation("no warp barrier within an exchange" block/warp_shuffle.cuh
         "value);
    simt::synchronize_warp();"
         "value);")

# ---- the walk ------------------------------------------------------------------------------------------------------------
mutation("a prefix used before the totals between are there" device/look_back.cuh
         "if ((totals & between) != between) continue;" "")
mutation("no prefix waited for" device/look_back.cuh "if (prefixes == 0) continue;" "")
mutation("the nearest tile's total not waited for" device/look_back.cuh
         "bool have = lane >= mine;" "bool have = lane + 1 >= mine;")
mutation("a group's prefix without its own total" device/look_back.cuh
         "through.append(op, totals[0]);" "")
mutation("keys at the boundaries read in place" core/by_key.cuh
         "!equal(boundary_[i / TileElements], memory.own)" "!equal(keys_[i - 1], memory.own)")

list(LENGTH survivors count)
message(STATUS "mutations killed: ${killed}, survived: ${count}")
if(count GREATER 0 OR killed EQUAL 0)
  list(JOIN survivors "\n  " text)
  message(FATAL_ERROR "survivors:\n  ${text}")
endif()
