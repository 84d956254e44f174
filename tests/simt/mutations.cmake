# SPDX-License-Identifier: MIT
# cmake -D CXX=<compiler> -D FLAGS=<list> -D OBJECTS=<list> -D TESTS=<tests/> -D INCLUDE=<include/> -D WORK=<directory>
#       [-D PROGRAM=<source>] [-D ONLY=<name>] -P mutations.cmake
# Breaks one thing at a time in a copy of the headers and requires that the test notices: all mutations, those tried on PROGRAM, or
# the one called ONLY. The unbroken copy must pass: else a failure would say nothing. A mutation whose text is not found exactly once
# is an error: the list follows the headers.
cmake_minimum_required(VERSION 3.25)

set(killed 0)
set(survivors "")

# Builds `source` over the headers in WORK/include, launched as WORK/simt says.
function(build_test)
  execute_process(COMMAND ${CXX} -I${WORK} ${FLAGS} -I${WORK}/include ${TESTS}/simt/${source} ${OBJECTS} -o ${WORK}/test
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "the test does not compile with the headers in ${WORK}:\n${text}")
  endif()
endfunction()

# Runs it over `percent` of its schedules. `status` is 0, or what the test ended with.
function(run_test status output percent)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0
                          LOOKBACK_SIMT_PERCENT=${percent} ${WORK}/test --abort-after=1
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 300)
  set(${status} "${code}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(copy_headers)
  file(REMOVE_RECURSE ${WORK}/include)
  file(COPY ${INCLUDE}/lookback DESTINATION ${WORK}/include)
  file(COPY ${TESTS}/simt/scan.hpp DESTINATION ${WORK}/simt)
endfunction()

# mutation(name file old new): `name` says what is broken. `file` is one of lookback's headers, or simt/scan.hpp.
function(mutation name file old new)
  if((DEFINED ONLY AND NOT ONLY STREQUAL name) OR (DEFINED PROGRAM AND NOT PROGRAM STREQUAL source))
    return()
  endif()
  copy_headers()
  set(path ${WORK}/include/lookback/${file})
  if(file MATCHES "^simt/")
    set(path ${WORK}/${file})
  endif()
  file(READ ${path} text)
  string(REPLACE "${old}" "" without "${text}")
  string(LENGTH "${text}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${old}" expected)
  math(EXPR removed "${before} - ${after}")
  if(NOT removed EQUAL expected)
    message(FATAL_ERROR "mutation '${name}': its text must occur exactly once in ${file}:\n${old}")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  file(WRITE ${path} "${text}")
  message(STATUS "mutation '${name}' ...")
  build_test()
  # Schedules are drawn anew for every run, and some mistakes show in few of them: what one run does not see, another may. More in one
  # run would take ThreadSanitizer more memory than there is.
  set(effort 0)
  foreach(percent 25 75 100 100 100 100 100)
    run_test(status output ${percent})
    math(EXPR effort "${effort} + ${percent}")
    if(NOT status EQUAL 0)
      break()
    endif()
  endforeach()
  # Killed means that the test said what is wrong and how to see it again: a time-out is no proof, nor is a crash outside of the
  # kernels, which names no schedule.
  string(REGEX MATCH "SUMMARY: ThreadSanitizer[^\n]*|deadlock[^\n]*|block [0-9]+ [^\n]*|ERROR: (REQUIRE|test case)[^\n]*" reason "${output}")
  if(NOT status EQUAL 0 AND output MATCHES "replay: LOOKBACK_SIMT_SEED=" AND NOT reason STREQUAL "")
    message(STATUS "  killed at ${effort} % of the schedules: ${reason}")
    math(EXPR killed "${killed} + 1")
    set(killed ${killed} PARENT_SCOPE)
  else()
    message(STATUS "  SURVIVED (exit status ${status})\n${output}")
    set(survivors ${survivors} "${name}" PARENT_SCOPE)
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK})
# The mutations that follow are tried on this test.
macro(mutations_of test)
  set(source ${test})
  if(NOT DEFINED ONLY AND (NOT DEFINED PROGRAM OR PROGRAM STREQUAL source))
    copy_headers()
    build_test()
    run_test(status output 25) # all of them are a test of their own
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${source} fails without a mutation (${status}):\n${output}")
    endif()
  endif()
endmacro()

# ---- forward progress ----------------------------------------------------------------------------------------------------
mutations_of(races.cpp)
mutation("static block ids instead of tickets" device/decoupled_look_back.cuh
         "simt::fetch_increment(state.next_tile)" "simt::block_index()")

# ---- barriers ------------------------------------------------------------------------------------------------------------
mutation("no wait for the kernel before" device/decoupled_look_back.cuh
         "simt::wait_for_previous_kernel();" "")
mutation("no barrier between the ticket and its use" device/decoupled_look_back.cuh
         "    simt::synchronize_block();
    tile = shared.ticket;"
         "    tile = shared.ticket;")
mutation("no barrier between the row totals and their use" device/decoupled_look_back.cuh
         "totals[i]);
    simt::synchronize_warps<Warps>();"
         "totals[i]);")
mutation("no barrier between the prefix and its use" device/decoupled_look_back.cuh
         "prefix.value());
      simt::synchronize_warps<Warps>();"
         "prefix.value());")
mutation("totals sent before they are expected" device/cluster.cuh "simt::wait_for_cluster(); // everybody expects" "")
mutation("totals of a cluster not waited for" device/cluster.cuh "simt::wait_for_sent(shared.received, 0);" "")
mutation("a block's barrier not published to its cluster" device/cluster.cuh "simt::publish_barriers();" "")
mutation("fewer bytes awaited than are sent" device/cluster.cuh "tile * sizeof(shared.totals[0])" "tile * sizeof(T) / 2")

# ---- the walk ------------------------------------------------------------------------------------------------------------
mutation("a prefix used before the totals between are there" device/look_back.cuh
         "if ((totals & between) != between) continue;" "")
mutation("no prefix waited for" device/look_back.cuh "if (prefixes == 0) continue;" "")
mutation("the nearest tile's total not waited for" device/look_back.cuh
         "bool have = lane >= mine;" "bool have = lane + 1 >= mine;")
mutation("a group's prefix without its own total" device/look_back.cuh
         "through.append(op, totals[0]);" "")

# ---- memory orders: cells that are more than one word, and objects -------------------------------------------------------
mutations_of(races_cells.cpp)
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
mutation("no warp barrier before an exchange" block/warp_shuffle.cuh
         "simt::synchronize_warp(); // everyone is done with the references of the exchange before" "")
mutation("no warp barrier within an exchange" block/warp_shuffle.cuh
         "construct(slots_[simt::lane_index()], value);
    simt::synchronize_warp();"
         "construct(slots_[simt::lane_index()], value);")

# ---- rows, and keys that results are written over --------------------------------------------------------------------------
mutations_of(races_moves.cpp)
mutation("keys written over before the cluster has read them" device/cluster.cuh
         "simt::arrive_at_cluster<Ordered>();" "simt::arrive_at_cluster<false>();")
mutation("copies to shared memory not waited for" device/staged_tile.cuh "    simt::wait_for_copies();" "")
mutation("no warp barrier after the fetch" device/staged_tile.cuh
         "    if (arrays == 1 && aligned()) // rows share no granule
      simt::synchronize_warp();
    else
      simt::synchronize_warps<Warps>();"
         "    if (arrays != 1 || !aligned()) simt::synchronize_warps<Warps>();")
mutation("no block barrier after the fetch of rows that share granules" device/staged_tile.cuh
         "simt::synchronize_warps<Warps>();" "simt::synchronize_warp();")
mutation("no warp barrier after the fetch of items" device/tile_source.cuh
         "finish() { simt::synchronize_warp(); }" "finish() {}")
mutation("no warp barrier before a row's place is reused" block/transfer.cuh
         "simt::synchronize_warp(); // every lane has read its vector" "")
mutation("no warp barrier between a row's results and their store" block/transfer.cuh
         "vector.get(k));
  simt::synchronize_warp();"
         "vector.get(k));")
mutation("keys at the boundaries read in place" core/by_key.cuh
         "is_head(key_before(i / TileElements), memory.own)" "is_head(keys_[i - 1], memory.own)")
mutation("staged keys at the boundaries read in place" block/staged.cuh
         "row == 0 && input.saves_keys() ? input.key_before(tile) :" "")

# ---- the wave ------------------------------------------------------------------------------------------------------------
mutations_of(races_wave.cpp)
mutation("a wave without the cooperative guarantee" simt/scan.hpp "if (guaranteed) scanning.resident = scanning.blocks;" "")
mutation("a wave launched like any kernel" simt/scan.hpp "scanning.cooperative = true;" "")
mutation("a wave's cell not cleared" device/decoupled_look_back.cuh
         "if (simt::thread_index() == 0) state.tile_totals.clear(tile);" "")
mutation("a wave's cell cleared after the arrival" device/decoupled_look_back.cuh
         "        if (simt::thread_index() == 0) state.tile_totals.clear(tile);
        simt::tell<simt::news::ready, Warps + 1>();"
         "        simt::tell<simt::news::ready, Warps + 1>();
        if (simt::thread_index() == 0) state.tile_totals.clear(tile);")
mutation("a wave's warp arrives before it has been told" device/one_wave.cuh
         "  simt::be_told<simt::news::ready, Warps + 1>();" "")
mutation("a wave does not wait to be told" device/one_wave.cuh
         "  simt::be_told<simt::news::complete, Warps + 1>();" "")
mutation("a wave told before the grid is there" device/one_wave.cuh
         "  if (simt::lane_index() == 0) simt::wait_for_grid(simt::arrive_at_grid());
  simt::synchronize_warp();
  simt::tell<simt::news::complete, Warps + 1>();"
         "  simt::tell<simt::news::complete, Warps + 1>();
  if (simt::lane_index() == 0) simt::wait_for_grid(simt::arrive_at_grid());
  simt::synchronize_warp();")
mutation("the flag of a cleared cell left as it is" device/tile_state.cuh "Memory::store_release(flags_ + i, 0);" "")
mutation("totals of a wave read before all cells are cleared" device/one_wave.cuh
         "simt::wait_for_grid(simt::arrive_at_grid());" "simt::arrive_at_grid();")
mutation("a wave arrives before it has read its keys" device/decoupled_look_back.cuh
         "constexpr bool reads_neighbours =
        boundary_of<typename Problem::input_type>::exists;"
         "constexpr bool reads_neighbours = false;")
mutation("no barrier between the groups of a wave and their use" device/one_wave.cuh
         "  simt::synchronize_warps<Warps>();

  maybe<T> left;"
         "  maybe<T> left;")
mutation("a total of a wave used before it is there" device/look_back.cuh
         "ready = ready && (watched(u) >= tile || seen[u].ready());" "ready = ready && (watched(u) + 1 >= tile || seen[u].ready());")

# ---- an initial value that stands in the output ----------------------------------------------------------------------------
mutations_of(races_initial.cpp)
mutation("an initial value read when it is needed" device/early_initial.cuh
         "  if constexpr (reads_initial<Problem>)
    return early;
  else
    return static_cast<T>(problem.initial.value);"
         "  return static_cast<T>(problem.initial.value);")
mutation("an initial value that a look-back does not save" simt/scan.hpp
         "if constexpr (Saved && lookback::detail::reads_initial<Problem>)" "if constexpr (Saved && false)")
mutation("a cluster arrives before the initial value is read" device/decoupled_look_back.cuh
         "expect_totals<reads_neighbours || reads_early>" "expect_totals<reads_neighbours>")
mutation("an initial value read after the wave has arrived" device/decoupled_look_back.cuh
         "    if constexpr (!reads_neighbours) items.finish();"
         "    if constexpr (!reads_neighbours) items.finish();
    if (reads_early && !is_cluster && simt::thread_index() == 0) read_initial(problem, shared.prefix[0]);")
mutation("an initial value read after the pipeline's grid has met" device/look_ahead.cuh
         "    } else if (warp < first_scanning_warp) {
      simt::wait(shared_.cleared, 0);"
         "    } else if (warp < first_scanning_warp) {
      simt::wait(shared_.cleared, 0);
      read_initial(problem_, initial[0]);")

# ---- large elements ----------------------------------------------------------------------------------------------------------
mutations_of(large.cpp)
mutation("no warp barrier before a round of an exchange" block/warp_shuffle.cuh
         "simt::synchronize_warp(); // all lanes have read the slots of the previous round" "")
mutation("no warp barrier within a round of an exchange" block/warp_shuffle.cuh
         "construct(slots_[lane - first], value);
      simt::synchronize_warp();"
         "construct(slots_[lane - first], value);")
mutation("a large scan does not wait for the kernel before" device/large_scan.cuh "simt::wait_for_previous_kernel();" "")
mutation("a large tile's ticket used before it is there" device/large_scan.cuh
         "    simt::synchronize_block();
    tile = shared.ticket;"
         "    tile = shared.ticket;")
mutation("a lane's large element read again when others have written" device/large_scan.cuh
         "    if constexpr (keeps_element)
      return static_cast<const T &>(kept_[0]);
    else
      return read(i);"
         "    return read(i);")

# ---- the pipeline --------------------------------------------------------------------------------------------------------
mutations_of(races_look_ahead.cpp)
mutation("the cooperative guarantee dropped" simt/scan.hpp "if (guaranteed) scanning.resident = scanning.blocks;" "")
mutation("cells not cleared" device/look_ahead.cuh "    clear_totals(state_.tile_totals, column_);
" "")
mutation("cells cleared after the arrival" device/look_ahead.cuh
         "    clear_totals(state_.tile_totals, column_);
    simt::synchronize_block();"
         "    simt::synchronize_block();
    clear_totals(state_.tile_totals, column_);")
mutation("totals published before all cells are cleared" device/look_ahead.cuh
         "simt::wait_for_grid(simt::arrive_at_grid());" "simt::arrive_at_grid();")
mutation("look-ahead warps told before all cells are cleared" device/look_ahead.cuh
         "        simt::wait_for_grid(simt::arrive_at_grid());
        simt::arrive(shared_.cleared);"
         "        simt::arrive(shared_.cleared);
        simt::wait_for_grid(simt::arrive_at_grid());")
mutation("the publishing warp does not wait for its first lane" device/look_ahead.cuh
         "      simt::synchronize_warp(); // the shuffles to come would bring the lanes together, but order no memory
" "")
mutation("totals read before all cells are cleared" device/look_ahead.cuh
         "simt::wait(shared_.cleared, 0);" "")
mutation("the barrier of the cleared cells not initialized" device/look_ahead_prefix.cuh
         "    simt::initialize(cleared, 1);
" "")
mutation("barriers not published" device/look_ahead_prefix.cuh
         "simt::initialize(scanned[s], Tuning::value.scanning_warps * simt::warp_threads);
    }
    simt::publish_barriers();"
         "simt::initialize(scanned[s], Tuning::value.scanning_warps * simt::warp_threads);
    }")
mutation("barriers of the later copies not published" device/look_ahead_prefix.cuh
         "    simt::initialize(cleared, 1);
    simt::publish_barriers();"
         "    simt::initialize(cleared, 1);")
mutation("barriers of the first copies not published" device/look_ahead_prefix.cuh
         "simt::initialize(copied[s], 1);
    simt::publish_barriers();"
         "simt::initialize(copied[s], 1);")
mutation("copies begun before the barriers are there" device/look_ahead.cuh
         "      if (simt::lane_index() == 0) shared_.initialize_first_copies();
      copy(next, storage::first_copies);"
         "      copy(next, storage::first_copies);
      if (simt::lane_index() == 0) shared_.initialize_first_copies();")
mutation("the first copies wait for a barrier that is not there yet" device/look_ahead.cuh
         "if (next.i >= stages) simt::wait(shared_.scanned[stage], next.at.phase ^ 1);"
         "simt::wait(shared_.scanned[stage], next.at.phase ^ 1);")
mutation("no barrier between the barriers' initialization and their use" device/look_ahead.cuh
         "    clear_totals(state_.tile_totals, column_);
    simt::synchronize_block();"
         "    clear_totals(state_.tile_totals, column_);")
mutation("a stage filled before its tile is scanned" device/look_ahead.cuh
         "if (next.i >= stages) simt::wait(shared_.scanned[stage], next.at.phase ^ 1);" "")
mutation("a stage filled a round too early" device/look_ahead.cuh
         "simt::wait(shared_.scanned[stage], next.at.phase ^ 1);" "simt::wait(shared_.scanned[stage], next.at.phase);")
mutation("bytes not owed to the barrier of a copy" device/staged_tile.cuh
         "simt::arrive_and_expect(copied, bulk.bytes);" "simt::arrive(copied);")
mutation("a tile reduced before it is copied" device/look_ahead.cuh
         "simt::wait(shared_.copied[at.stage], at.phase);" "")
mutation("row totals not waited for" device/look_ahead.cuh "simt::wait(shared_.reduced[at.stage], at.phase);" "")
mutation("arrival before the row totals are written" device/look_ahead.cuh
         "        LOOKBACK_UNROLL
        for (int r = 0; r < rows; ++r)
          if (lane < whole_vectors(r)) construct(shared_.row_totals[at.stage][scanning_warp() * rows + r], totals[r]);
        simt::arrive(shared_.reduced[at.stage]);"
         "        simt::arrive(shared_.reduced[at.stage]);
        LOOKBACK_UNROLL
        for (int r = 0; r < rows; ++r)
          if (lane < whole_vectors(r)) construct(shared_.row_totals[at.stage][scanning_warp() * rows + r], totals[r]);")
mutation("arrival before the total of the runs is written" device/look_ahead.cuh
         "      construct(shared_.row_totals[at.stage][scanning_warp()], totals[0]);
      simt::arrive(shared_.reduced[at.stage]);"
         "      simt::arrive(shared_.reduced[at.stage]);
      construct(shared_.row_totals[at.stage][scanning_warp()], totals[0]);")
mutation("results read by rows before every lane has written its run" device/tile_runs.cuh
         "    simt::synchronize_warp();
    stored *const output"
         "    stored *const output")
mutation("row prefixes not waited for" device/look_ahead.cuh "simt::wait(shared_.rows_ready[at.stage], at.phase);" "")
mutation("the prefix not waited for" device/look_ahead.cuh "simt::wait(shared_.prefix_ready[at.stage], at.phase);" "")
mutation("arrival before the row prefixes are written" device/look_ahead.cuh
         "      if (lane < whole_rows) construct(shared_.row_prefixes[at.stage][lane], row[0]);
      simt::arrive(shared_.rows_ready[at.stage]);"
         "      simt::arrive(shared_.rows_ready[at.stage]);
      if (lane < whole_rows) construct(shared_.row_prefixes[at.stage][lane], row[0]);")
mutation("row prefixes of one lane taken for all" device/look_ahead_prefix.cuh
         "simt::initialize(rows_ready[s], simt::warp_threads);" "simt::initialize(rows_ready[s], 1);")
mutation("a stage given back by one lane for all" device/look_ahead.cuh
         "    simt::arrive(shared_.scanned[at.stage]);"
         "    for (int l = 0; lane == 0 && l < 32; ++l) simt::arrive(shared_.scanned[at.stage]);")
mutation("a stage given back by one warp for all" device/look_ahead_prefix.cuh
         "simt::initialize(scanned[s], Tuning::value.scanning_warps * simt::warp_threads);"
         "simt::initialize(scanned[s], simt::warp_threads);")
mutation("row totals of one warp taken for all" device/look_ahead_prefix.cuh
         "simt::initialize(reduced[s], Tuning::value.scanning_warps);" "simt::initialize(reduced[s], 1);")
mutation("a phase that does not flip" device/look_ahead_prefix.cuh "stage = 0, phase ^= 1;" "stage = 0;")
mutation("a total used before it is there" device/look_back.cuh
         "ready = ready && (watched(u) >= tile || seen[u].ready());" "ready = ready && (watched(u) + 1 >= tile || seen[u].ready());")
mutation("the groups of the tile before not waited for" device/look_ahead_prefix.cuh
         "if (i > 0) simt::wait(shared.groups_ready[before.stage], before.phase);" "")
mutation("a prefix written before the stage's last tile is scanned" device/look_ahead_prefix.cuh
         "simt::wait(shared.scanned[at.stage], at.phase ^ 1);" "")
mutation("groups handed on by one lane for all" device/look_ahead_prefix.cuh
         "    simt::arrive(shared.groups_ready[at.stage]);"
         "    for (int l = 0; lane == 0 && l < 32; ++l) simt::arrive(shared.groups_ready[at.stage]);")
mutation("arrival before the groups are written" device/look_ahead_prefix.cuh
         "      if (left.exists()) construct(shared.groups[at.stage][0], left.value());
    }
    simt::arrive(shared.groups_ready[at.stage]);"
         "    }
    simt::arrive(shared.groups_ready[at.stage]);
    if (lane == 0 && left.exists()) construct(shared.groups[at.stage][0], left.value());")
mutation("tiles left to a look-ahead warp that does not work" device/look_ahead.cuh
         "look_ahead(problem_, initial[0], state_, column_, warp - 2, working," "look_ahead(problem_, initial[0], state_, column_, warp - 2, 3,")
mutation("arrival before the prefix is written" device/look_ahead_prefix.cuh
         "      if (left.exists()) construct(shared.prefix[at.stage][0], left.value());
      simt::arrive(shared.prefix_ready[at.stage]);"
         "      simt::arrive(shared.prefix_ready[at.stage]);
      if (left.exists()) construct(shared.prefix[at.stage][0], left.value());")

list(LENGTH survivors count)
message(STATUS "mutations killed: ${killed}, survived: ${count}")
if(count GREATER 0 OR killed EQUAL 0)
  list(JOIN survivors "\n  " text)
  message(FATAL_ERROR "no test detected these mutations:\n  ${text}")
endif()
