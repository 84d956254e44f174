# SPDX-License-Identifier: MIT
# cmake -D TESTS=<tests/> -D INCLUDE=<include/> -D WORK=<directory> -D PLACES=ON -P mutations.cmake
# cmake -D TESTS=... -D INCLUDE=... -D WORK=... -D CXX=<compiler> -D FLAGS=<list> -D OBJECTS=<list>
#       [-D PROGRAM=<source>] [-D ONLY=<name>] -P mutations.cmake
# Breaks one thing at a time in a copy of the headers and requires that the test notices: all
# mutations, those tried on PROGRAM, or the one called ONLY. The unbroken copy must pass all of its
# schedules; otherwise a failure would prove nothing. PLACES compiles nothing: it requires that every
# mutation finds its place, and that every marker in the headers is used.
#
# Each program is compiled once, with its mutations as branches in the headers; a number in the
# environment selects one. A mutation that no branch can express is compiled separately.
#
# A marker is the comment `// mutant: <id>` at the end of a line; ids are unique. Formatting or
# moving code keeps a mutation valid as long as the marker stays with its line.
cmake_minimum_required(VERSION 3.25)

set(mutations 0)
set(used "")

function(copy_headers)
  file(REMOVE_RECURSE ${WORK}/include)
  file(COPY ${INCLUDE}/lookback DESTINATION ${WORK}/include)
  file(COPY ${TESTS}/simt/scan.hpp DESTINATION ${WORK}/simt)
endfunction()
copy_headers()

# ---- markers: file_of_<id> is the header that has it ---------------------------------------------
set(markers "")
file(GLOB_RECURSE headers RELATIVE ${WORK} ${WORK}/include/*)
foreach(file IN LISTS headers ITEMS simt/scan.hpp)
  file(READ ${WORK}/${file} text)
  string(REGEX MATCHALL "(// )?mutant[^\n]*\n" found "${text}")
  foreach(marker IN LISTS found)
    if(NOT marker MATCHES "^// mutant: ([a-z0-9-]+)\n$")
      message(FATAL_ERROR "${file}: a marker ends its line and is `// mutant: <id>`, <id> of "
                          " a-z, 0-9 and -: ${marker}")
    endif()
    set(id ${CMAKE_MATCH_1})
    if(DEFINED file_of_${id})
      message(FATAL_ERROR "marker '${id}' occurs twice: in ${file_of_${id}} and in ${file}")
    endif()
    set(file_of_${id} ${file})
    list(APPEND markers ${id})
  endforeach()
endforeach()

# ---- places --------------------------------------------------------------------------------------
function(misplaced reason)
  message(SEND_ERROR "mutation '${name}': ${reason}")
  set_property(GLOBAL PROPERTY misplaced ON)
endfunction()

# Splits `text` at the line of `marker`: `before` the line, its `code`, and `after` the code, from
# the line's comments on.
function(split_at marker)
  string(FIND "${text}" "// mutant: ${marker}\n" end)
  string(SUBSTRING "${text}" 0 ${end} before)
  string(SUBSTRING "${text}" ${end} -1 after)
  string(FIND "${before}" "\n" begin REVERSE)
  math(EXPR begin "${begin} + 1")
  string(SUBSTRING "${before}" ${begin} -1 code)
  string(SUBSTRING "${before}" 0 ${begin} before)
  string(REGEX MATCH "//.*" comment "${code}")
  string(REGEX REPLACE "//.*" "" code "${code}")
  set(before "${before}" PARENT_SCOPE)
  set(code "${code}" PARENT_SCOPE)
  set(after "${comment}${after}" PARENT_SCOPE)
endfunction()

# Requires that the line of `marker`, at which `text` is split, begins a statement: the code before
# it ends with a match of the regular expression `ends`.
function(require_begin marker ends)
  string(REGEX REPLACE "//[^\n]*|#[^\n]*" "" preceding "${before}")
  string(STRIP "${preceding}" preceding)
  if(NOT preceding MATCHES "(${ends})$")
    misplaced("marker '${marker}': its line does not begin a statement:\n${code}")
  endif()
endfunction()

# Requires that it is one statement, perhaps the body of an `if` or `else`.
function(require_statement marker)
  require_begin(${marker} "[;{}:)]|else")
  string(REGEX REPLACE "[^(]" "" opened "${code}")
  string(REGEX REPLACE "[^)]" "" closed "${code}")
  string(LENGTH "${opened}" opened)
  string(LENGTH "${closed}" closed)
  if(NOT (code MATCHES "; *$" AND opened EQUAL closed))
    misplaced("marker '${marker}': its line is not one statement:\n${code}")
  endif()
endfunction()

# Requires that `fragment` occurs exactly once in the line of `marker`.
function(require_once fragment marker)
  string(FIND "${code}" "${fragment}" first)
  string(FIND "${code}" "${fragment}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    misplaced("marker '${marker}': '${fragment}' must occur exactly once in its line:\n${code}")
  endif()
endfunction()

# ---- mutations -----------------------------------------------------------------------------------
# mutation(name operation...): `name` says what is broken, and the operation how:
#   DELETE marker                 the statement on that line
#   MOVE marker BEFORE marker     the same statement, to another line of the same header
#   REPLACE marker old new        `old` by `new` in that statement, which is no declaration
#   VALUE marker old new          the expression `old` on that line by `new`, of the same type
#   CODE marker old new           any text on that line
# `old` must occur exactly once in the line of the marker. CODE is for what the compiler must know,
# and needs a compilation of its own.
function(mutation name operation marker)
  math(EXPR mutations "${mutations} + 1")
  set(mutations ${mutations} PARENT_SCOPE)
  list(APPEND used ${marker})
  if(operation STREQUAL MOVE)
    list(APPEND used ${ARGV4})
  endif()
  set(used ${used} PARENT_SCOPE)
  if((DEFINED ONLY AND NOT ONLY STREQUAL name) OR (DEFINED PROGRAM AND NOT PROGRAM STREQUAL source))
    return()
  endif()
  if(NOT DEFINED file_of_${marker})
    misplaced("no line has the marker '${marker}'")
    return()
  endif()
  file(READ ${WORK}/${file_of_${marker}} text)
  split_at(${marker})
  set(chosen "lookback_mutation == ${mutations}")
  if(operation MATCHES "^(DELETE|MOVE|REPLACE)$")
    require_statement(${marker})
  endif()
  if(operation MATCHES "^(REPLACE|VALUE|CODE)$")
    require_once("${ARGV3}" ${marker})
    string(REPLACE "${ARGV3}" "${ARGV4}" broken "${code}")
  elseif(operation MATCHES "^(DELETE|MOVE)$")
    set(broken "")
  else()
    message(FATAL_ERROR "mutation '${name}': unknown operation ${operation}")
  endif()

  set_property(GLOBAL APPEND PROPERTY ${source}_mutations ${mutations})
  set_property(GLOBAL PROPERTY name_${mutations} "${name}")
  set_property(GLOBAL PROPERTY cases_${mutations} "${cases}")
  if(operation STREQUAL CODE)
    set_property(GLOBAL PROPERTY file_${mutations} ${file_of_${marker}})
    set_property(GLOBAL PROPERTY text_${mutations} "${before}${broken}${after}")
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY ${source}_markers ${marker})
  if(operation STREQUAL VALUE)
    set_property(GLOBAL PROPERTY ${source}_${marker}_old "${ARGV3}")
    set_property(GLOBAL PROPERTY ${source}_${marker}_new "(${chosen} ? (${ARGV4}) : (${ARGV3}))")
    return()
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY ${source}_${marker}_branches
               "if (${chosen}) { ${broken} } else ")
  if(operation STREQUAL MOVE)
    if(NOT "${file_of_${ARGV4}}" STREQUAL "${file_of_${marker}}")
      misplaced("markers '${marker}' and '${ARGV4}' must be in one header")
      return()
    endif()
    set(statement "${code}")
    split_at(${ARGV4})
    require_begin(${ARGV4} "[;{}:]") # after a condition, it would become the body
    set_property(GLOBAL APPEND PROPERTY ${source}_markers ${ARGV4})
    set_property(GLOBAL APPEND_STRING PROPERTY ${source}_${ARGV4}_begin
                 "if (${chosen}) { ${statement} } ")
  endif()
endfunction()

# ---- the test ------------------------------------------------------------------------------------
file(WRITE ${WORK}/mutation.hpp "#include <cstdlib>
inline const int lookback_mutation = [] {
  const char *const number = std::getenv(\"LOOKBACK_MUTATION\");
  return number != nullptr ? std::atoi(number) : 0;
}();
")

# Writes the mutations of `source` as branches into WORK's headers, which are as they were copied.
function(write_branches)
  get_property(markers GLOBAL PROPERTY ${source}_markers)
  list(REMOVE_DUPLICATES markers)
  foreach(marker IN LISTS markers)
    foreach(part IN ITEMS begin branches old new)
      get_property(${part} GLOBAL PROPERTY ${source}_${marker}_${part})
    endforeach()
    set(path ${WORK}/${file_of_${marker}})
    file(READ ${path} text)
    split_at(${marker})
    if(NOT "${old}" STREQUAL "")
      string(REPLACE "${old}" "${new}" code "${code}")
    endif()
    file(WRITE ${path} "${before}${begin}${branches}${code}${after}")
  endforeach()
endfunction()

# Builds `source` over the headers in WORK/include, launched as WORK/simt says.
function(build_test)
  execute_process(COMMAND ${CXX} -include ${WORK}/mutation.hpp -I${WORK} ${FLAGS}
                          -I${WORK}/include ${TESTS}/simt/${source} ${OBJECTS} -o ${WORK}/test
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "the test does not compile with the headers in ${WORK}:\n${text}")
  endif()
endfunction()

# Runs the test cases called `cases` with one mutation, or none, over `percent` of their schedules.
# `status` is 0, or what the test ended with.
function(run_test status output number percent cases)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env
                          TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0
                          LOOKBACK_MUTATION=${number} LOOKBACK_SIMT_PERCENT=${percent}
                          ${WORK}/test --abort-after=1 "--test-case=${cases}"
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 300)
  if(code EQUAL 0 AND text MATCHES "test cases: +0 ")
    message(FATAL_ERROR "${source} has no test case called '${cases}'")
  endif()
  set(${status} "${code}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Requires that the program notices mutation `number`.
function(require_killed number)
  get_property(name GLOBAL PROPERTY name_${number})
  get_property(cases GLOBAL PROPERTY cases_${number})
  message(STATUS "mutation '${name}' ...")
  # Schedules are drawn anew for every run, and some mistakes show in few of them: what one run does
  # not see, another may. More in one run would take ThreadSanitizer more memory than there is.
  #
  # Killed means that the test said what is wrong and how to see it again: a time-out is no proof,
  # nor is a crash outside of the kernels, which names no schedule, or an end for lack of memory.
  set(effort 0)
  foreach(percent 25 75 100 100 100 100 100 100 100 100 100 100)
    if(effort GREATER_EQUAL 300) # the test cases that should notice have not
      set(cases "*")
    endif()
    run_test(status output ${number} ${percent} "${cases}")
    math(EXPR effort "${effort} + ${percent}")
    set(reasons "ERROR: (REQUIRE|CHECK)")
    if(output MATCHES "replay: LOOKBACK_SIMT_SEED=")
      list(APPEND reasons "SUMMARY: ThreadSanitizer" "deadlock" "block [0-9]+ " "ERROR: test case")
    endif()
    list(JOIN reasons "[^\n]*|" reasons)
    string(REGEX MATCH "${reasons}[^\n]*" reason "${output}")
    if(NOT status EQUAL 0 AND output MATCHES "replay(: LOOKBACK_SIMT| with LOOKBACK_TEST)_SEED="
       AND NOT reason STREQUAL "")
      message(STATUS "  killed at ${effort} % of the schedules: ${reason}")
      set_property(GLOBAL APPEND PROPERTY killed "${name}")
      return()
    endif()
  endforeach()
  message(STATUS "  SURVIVED (exit status ${status})\n${output}")
  set_property(GLOBAL APPEND PROPERTY survivors "${name}")
endfunction()

# Tries the mutations of `source`.
function(try_mutations)
  get_property(numbers GLOBAL PROPERTY ${source}_mutations)
  get_property(misplaced GLOBAL PROPERTY misplaced)
  if(PLACES OR misplaced OR NOT numbers)
    return()
  endif()
  write_branches()
  build_test()
  run_test(status output 0 100 "*")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${source} fails without a mutation (${status}):\n${output}")
  endif()
  string(REGEX MATCH "simt: [^\n]*" figures "${output}")
  message(STATUS "without a mutation ${figures}")
  set(alone)
  foreach(number IN LISTS numbers)
    get_property(is_alone GLOBAL PROPERTY text_${number} SET)
    if(is_alone)
      list(APPEND alone ${number})
    else()
      require_killed(${number})
    endif()
  endforeach()
  foreach(number IN LISTS alone)
    get_property(file GLOBAL PROPERTY file_${number})
    get_property(text GLOBAL PROPERTY text_${number})
    copy_headers()
    file(WRITE ${WORK}/${file} "${text}")
    build_test()
    require_killed(${number})
  endforeach()
  copy_headers()
endfunction()

# The mutations up to the next mutations_of() are tried on this test.
macro(mutations_of test)
  try_mutations()
  set(source ${test})
  noticed_by("*")
endmacro()

# Those up to the next noticed_by(): first on its test cases of these names (a filter of doctest's),
# which saves the time of the others.
macro(noticed_by filter)
  set(cases "${filter}")
endmacro()

# ---- forward progress ----------------------------------------------------------------------------
mutations_of(races.cpp)
mutation("static block ids instead of tickets"
         REPLACE tile-id "simt::fetch_increment(state.next_tile_id)" "simt::block_index()")

# ---- barriers ------------------------------------------------------------------------------------
mutation("no wait for the kernel before" DELETE previous-kernel)
mutation("no barrier between the ticket and its use" DELETE tile-id-barrier)
mutation("no barrier between the row totals and their use" DELETE row-aggregates-barrier)
mutation("no barrier between the prefix and its use" DELETE prefix-barrier)
mutation("totals sent before they are expected" DELETE cluster-wait)
mutation("totals of a cluster not waited for" DELETE cluster-received)
mutation("a block's barrier not published to its cluster" DELETE cluster-publish)
mutation("fewer bytes awaited than are sent"
         VALUE cluster-bytes "sizeof(shared_.aggregates[0])" "sizeof(T) / 2")

# ---- the walk ------------------------------------------------------------------------------------
mutation("a prefix used before the totals between are there" DELETE between-ready)
mutation("no prefix waited for" DELETE prefix-found)
mutation("the nearest tile's total not waited for" VALUE nearest-aggregate "lane" "lane + 1")
mutation("a group's prefix without its own total" DELETE group-aggregate)

# ---- memory orders: cells that are more than one word, and objects -------------------------------
mutations_of(races_cells.cpp)
mutation("release of a cell's flag relaxed"
         REPLACE flag-release
         "store_release(flags_ + i, 1)"
         "store_relaxed(flags_ + i, std::uint32_t{1})")
mutation("acquire of a cell's flag relaxed" REPLACE flag-acquire "load_acquire" "load_relaxed")
mutation("flag published before the payload" MOVE flag-release BEFORE payload)
mutation("the second word of a cell not asked whether it is there"
         VALUE second-word "seen_[1].high != 0" "true")
mutation("only the first word of a wide cell asked whether it is there"
         REPLACE every-word "seen_[w].high" "seen_[0].high")
mutation("no warp barrier before an exchange" DELETE exchange-reuse)
mutation("no warp barrier within an exchange" DELETE exchange)
mutation("vectors of a tile not waited for" DELETE vectors-wait)
mutation("no barrier between the aggregates of the warps and their use" DELETE vectors-aggregates)
mutation("no barrier between the textbook's prefix and its use" DELETE textbook-prefix)
mutation("no barrier between the textbook's id and its use" DELETE textbook-id)
mutation("a walk over aggregates that are not there" DELETE walk-known)

# ---- rows, and keys that results are written over ------------------------------------------------
mutations_of(races_moves.cpp)
mutation("keys written over before the cluster has read them"
         REPLACE cluster-arrive "Ordered" "false")
mutation("copies to shared memory not waited for" DELETE copies-wait)
mutation("the last bytes of a tile are copied by another warp than reads them"
         VALUE fetch-tail "(valid_bytes - rest) / share<A>" "0")
mutation("no warp barrier after the fetch" VALUE fetch-warp "simt::synchronize_warp()" "void()")
mutation("no block barrier after the fetch of rows that share granules"
         REPLACE fetch-block "synchronize_warps<Warps>" "synchronize_warp")
mutation("no warp barrier after the fetch of items"
         VALUE fetch-items "simt::synchronize_warp()" "void()")
mutation("no warp barrier before a row's place is reused" DELETE row-reuse)
mutation("no warp barrier between a row's results and their store" DELETE row-results)
mutation("no warp barrier before a row's place is reused for units" DELETE units-reuse)
mutation("no warp barrier between a row's results and their units" DELETE units-results)
mutation("keys at the boundaries read in place"
         REPLACE boundary-key "key_before(i / TileElements)" "keys_[i - 1]")
mutation("staged keys at the boundaries read in place"
         VALUE staged-key "row == 0 && input.saves_keys()" "false")

mutation("the total taken from every vector" VALUE total "is_last" "left > 0")
mutation("a total that counts integers behind the last one"
         VALUE parts-total "w * parts + k < count" "true")
mutation("a total one place too far" VALUE total-place "*total" "total[1]")
mutation("rows from the end read from the begin"
         VALUE mirrored-row "shape::tile_rows - 1 - row" "row")
mutation("vectors from the end stored from the begin"
         VALUE from-end "last_lane - simt::lane_index()" "simt::lane_index()")
mutation("no total of no items" REPLACE no-items "set_total(static_cast<T>(problem.initial.value))"
                                        "set_nothing()")

# ---- reductions ----------------------------------------------------------------------------------
mutations_of(races_reduction.cpp)
mutation("no barrier between the row totals of a reduction and their use" DELETE reduction-rows)
mutation("the total of a group without its last tile"
         VALUE combined-tiles "lane == count - 1" "lane == (count > 1 ? count - 2 : 0)")
mutation("the next tile fetched to the stage that is reduced"
         VALUE reduction-next "(i + 1) % stages" "i % stages")

mutations_of(races_distributed.cpp)
mutation("aggregates folded before they are fetched" DELETE fold-chunk)
mutation("the prefix of a body without its head" DELETE fold-own)
mutation("results of a head written before the shard" VALUE head-output "i_ >= 0" "i_ >= -1")
noticed_by("shards of intervals by key")
mutation("a head without the open items before the shard"
         REPLACE head-known "layout_.open_items(rank)" "0")
mutation("the first element of every shard starts a segment"
         VALUE shard-element "first_is_head(memory.own)" "true")
mutation("the first element of every shard starts a segment, from shared memory"
         VALUE shard-vector "tile != 0" "true")
mutation("the key before a shard taken from an empty one"
         VALUE shard-key "layout_.items(rank) > 0" "true")

mutations_of(races_continued.cpp)
mutation("the prefix of the last tile for that of its group"
         VALUE group-prefix "(problem.tiles() - 1) / group * group" "problem.tiles() - 1")
mutation("a head without the items of earlier chunks" VALUE continued-known "known_ + head_" "head_")
mutation("the items of a group not kept for the next chunk" DELETE continued-keep)

# ---- the wave ------------------------------------------------------------------------------------
mutations_of(races_wave.cpp)
mutation("a wave without the cooperative guarantee" DELETE resident)
mutation("a wave launched like any kernel"
         VALUE cooperative "residency::grid" "residency::none")
mutation("a wave's cell not cleared" DELETE wave-clear)
mutation("a wave's cell cleared after the arrival" MOVE wave-ready BEFORE wave-clear)
mutation("a wave's warp arrives before it has been told" DELETE wave-told-ready)
mutation("a wave does not wait to be told" DELETE wave-told)
mutation("a wave told before the grid is there" MOVE wave-tell BEFORE wave-grid)
mutation("the flag of a cleared cell left as it is"
         VALUE flag-clear "Memory::store_release(flags_ + i, 0)" "void()")
mutation("totals of a wave read before all cells are cleared"
         REPLACE wave-grid "simt::wait_for_grid(simt::arrive_at_grid())" "simt::arrive_at_grid()")
mutation("a wave arrives before it has read its keys"
         CODE reads-keys "keys::exists" "false")
mutation("no barrier between the groups of a wave and their use" DELETE wave-groups)
mutation("a total of a wave used before it is there"
         REPLACE aggregate-ready "watched(u) >=" "watched(u) + 1 >=")

# ---- an initial value that stands in the output --------------------------------------------------
mutations_of(races_initial.cpp)
mutation("an initial value read when it is needed"
         CODE early-initial "reads_initial<Problem>" "false")
mutation("an initial value that a look-back does not save"
         CODE saved-initial "reads_initial<Problem>" "false")
mutation("a cluster arrives before the initial value is read"
         CODE cluster-ordered " || reads_early" "")
mutation("an initial value read after the wave has arrived" MOVE initial-read BEFORE wave-finish)
mutation("a block of a pipeline answers before it has read the initial value"
         MOVE ahead-answer BEFORE ahead-initial)
mutation("a block of a pipeline that reads the initial value not waited for"
         VALUE answer-open "answer < presence::present" "answer == presence::unknown")
mutation("what a block of a pipeline has read not released with its answer"
         REPLACE present-release "store_release" "store_relaxed")
mutation("what a block of a pipeline has read not acquired with its answer"
         VALUE presence-acquire "Memory::load_acquire(answers_ + block)" "Memory::load_relaxed(answers_ + block)")

# ---- large elements ------------------------------------------------------------------------------
mutations_of(large.cpp)
mutation("no warp barrier before a round of an exchange" DELETE round-reuse)
mutation("no warp barrier within a round of an exchange" DELETE round)
mutation("a large scan does not wait for the kernel before" DELETE large-kernel)
mutation("a large tile's ticket used before it is there" DELETE large-tile-id)
mutation("a lane's large element read again when others have written"
         CODE kept-element "keeps_element" "false")

# ---- the pipeline --------------------------------------------------------------------------------
mutations_of(races_look_ahead.cpp)
mutation("a block that has not answered taken for one that takes no part"
         VALUE answer-open "answer < presence::present" "false")
mutation("a block excluded after its answer"
         VALUE exclude-unknown "meaning(before) == presence::unknown" "true")
mutation("others excluded by a block that has not answered itself"
         VALUE may-exclude "roll.read(simt::block_index()) != presence::unknown" "true")
mutation("an answer that overwrites an exclusion"
         VALUE answer-kept "before > word(presence::excluded)" "before != word(first)")
mutation("the place of a block among all of the launch"
         VALUE place "place.all + simt::count_bits(here & ((1u << (block - first)) - 1))" "block")
mutation("participants read before all parts are there" DELETE start-barrier)
mutation("only the first part of each warp waited for" VALUE next-part "part += warps - others" "part += 1 << 20")
mutation("a total of any content taken for one of this launch"
         VALUE tag "seen == mark_.value()" "seen != 0")
mutation("first copies in vain not waited for" DELETE in-vain)
mutation("barriers of the first copies not published again" DELETE publish-again)
mutation("no barrier between the second copies and their use" DELETE again-barrier)
mutation("barriers not published" DELETE publish-others)
mutation("barriers of the later copies not published" DELETE publish-later)
mutation("barriers of the first copies not published" DELETE publish-first)
mutation("copies begun before the barriers are there" MOVE first-copies BEFORE first-barriers)
mutation("the first copies wait for a barrier that is not there yet"
         REPLACE ring "if (next.i >= stages) " "")
mutation("a stage filled before its tile is scanned" DELETE ring)
mutation("a stage filled a round too early" REPLACE ring " ^ 1" "")
mutation("arrays taken for aligned ones when a tile is copied" VALUE whole-tile "aligned()" "true")
mutation("bytes not owed to the barrier of a copy"
         REPLACE copy-bytes "arrive_and_expect(copied, bulk.bytes)" "arrive(copied)")
mutation("a stage loaded before its tile is scanned" DELETE load-ring)
mutation("the first tiles not loaded early" DELETE early-loads)
mutation("tiles loaded before the barriers are there" DELETE early-barriers)
mutation("bytes loaded over those of a tile that is not in registers yet" DELETE held-ring)
mutation("one warp's rows in registers taken for the whole tile"
         VALUE held-init "scanning_warps" "1")
mutation("items that wait for their scan one tile too far back, after a round of several"
         VALUE moved-items "d + round" "d + 1")
mutation("aggregates that wait for their scan one tile too far back, after a round of several"
         VALUE moved-vectors "d + round" "d + 1")
mutation("a tile behind the last one taken for one that exists" VALUE steps-always "i < end"
         "i <= end")
mutation("rows taken for read when one lane has read its part" DELETE held-arrive)
mutation("items of one lane taken for all"
         REPLACE load-arrive
         "simt::arrive"
         "for (int l = 0; simt::lane_index() == 0 && l < 32; ++l) simt::arrive")
mutation("copies of a loading warp not waited for"
         REPLACE load-copies "arrive_when_copied" "arrive")
mutation("copies of a loading warp next to single bytes not waited for" DELETE load-rest)
mutation("items of one warp taken for all"
         CODE load-arrivals "Tuning::value.loading_team_warps() * " "")
mutation("a tile reduced before it is copied" DELETE copied-wait)
mutation("row totals not waited for" DELETE reduced-wait)
mutation("arrival before the row totals are written" MOVE reduced-arrive BEFORE row-aggregates)
mutation("arrival before the total of the runs is written" MOVE warp-arrive BEFORE warp-aggregate)
mutation("results read by rows before every lane has written its run" DELETE results-by-lane)
mutation("row prefixes not waited for" DELETE rows-wait)
mutation("the prefix not waited for" DELETE prefix-wait)
mutation("arrival before the row prefixes are written" MOVE rows-arrive BEFORE row-prefixes)
mutation("row prefixes of one lane taken for all" REPLACE rows-init "simt::warp_threads" "1")
mutation("a stage given back by one lane for all"
         REPLACE scanned-arrive
         "simt::arrive"
         "for (int l = 0; lane == 0 && l < 32; ++l) simt::arrive")
mutation("a stage given back by one warp for all"
         REPLACE scanned-init "scanning_warps * " "")
mutation("row totals of one warp taken for all"
         REPLACE reduced-init "scanning_warps" "1")
mutation("the partial tile scanned by every team"
         VALUE partial-team "full % scanning_teams == team" "true")
mutation("unaligned tiles scanned as aligned ones" VALUE fast-tiles "aligned ? full : 0" "full")
mutation("copies of structs not waited for"
         REPLACE struct-copies "arrive_when_copied" "arrive")
mutation("structs reduced before they are copied" DELETE struct-copied)
mutation("structs scanned before they are copied" DELETE struct-scanned-copied)
mutation("R taken in the middle of a row"
         VALUE struct-row-end "lane_ % row_lanes == row_lanes - 1" "lane_ % row_lanes == 0")
mutation("R of structs without the rows far above"
         VALUE struct-rows "row() >= distance" "row() == distance")
mutation("arrival before R of the rows of structs is written"
         MOVE struct-rows-arrive BEFORE struct-rows-written)
mutation("R of the rows of structs not waited for" DELETE struct-rows-wait)
mutation("a stage of structs given back by one lane for all"
         REPLACE struct-scanned-arrive
         "simt::arrive"
         "for (int l = 0; simt::lane_index() == 0 && l < 32; ++l) simt::arrive")
mutation("granules of structs copied to other places than they are read from"
         VALUE permuted "(lane * lane_granules + g) ^ f_of(lane)" "lane * lane_granules + g")
mutation("structs stored before every lane has put its results" DELETE blocked-results)
mutation("the prefix of a row taken from its own end" VALUE blocked-row "row() - 1" "row()")
mutation("the items of earlier lanes of a row left out"
         VALUE blocked-before "lane_of_row() == 0" "true")
mutation("aggregates of a group read before they are published"
         VALUE entries-ready "simt::all_of_warp(seen.ready())" "true")
mutation("aggregates of tiles read beside those of groups before they are published"
         DELETE first-entries)
mutation("aggregates of groups read beside those of tiles before they are published"
         DELETE second-entries)
mutation("a group published without its last tile"
         REPLACE group-tiles "group_tiles, aggregates" "group_tiles - 1, aggregates")
mutation("structs that are not aligned taken for aligned ones"
         VALUE struct-alignment "(input | output) % 16 == 0" "true")
mutation("an array apart copied over one that has not been read" DELETE apart-ring)
mutation("arrival before all lanes have written the aggregates of a share" DELETE share-arrive)
mutation("a sum by key from a head that is not there"
         VALUE keyed-newest "with_heads != 0 ? last : newest" "last")
mutation("sums by key without the rows above" VALUE keyed-before "all + through[i]" "through[i]")
mutation("a sum by key from a head behind its vector"
         VALUE keyed-below "(1u << rows.lane) - 1" "(2u << rows.lane) - 1")
mutation("a sum by key that goes on over a head" DELETE keyed-start)
mutation("a phase that does not flip" REPLACE phase ", phase ^= 1" "")
mutation("a total used before it is there"
         REPLACE aggregate-ready "watched(u) >=" "watched(u) + 1 >=")
mutation("the groups of the tile before not waited for" DELETE carry)
mutation("a prefix written before the stage's last tile is scanned" DELETE prefix-free)
mutation("groups handed on by one lane for all"
         REPLACE groups-arrive
         "simt::arrive"
         "for (int l = 0; lane == 0 && l < 32; ++l) simt::arrive")
mutation("arrival before the groups are written" MOVE groups-arrive BEFORE groups)
mutation("tiles left to a look-ahead warp that does not work" REPLACE working-warps "working," "3,")
mutation("arrival before the prefix is written" MOVE prefix-arrive BEFORE prefix)

# ---- selections ----------------------------------------------------------------------------------
mutations_of(races_selection.cpp)
mutation("items overwritten that another lane has not read" DELETE room-reuse)
mutation("results stored before every lane has put its own" DELETE room-results)
mutation("a full room that does not wrap" VALUE room-wraps "end <= RoomBytes" "end > 0")
mutation("a vector of kept items stored where it is not aligned" VALUE room-vectors "at % unit == 0" "true")
mutation("a vector stored of which not all items are kept" VALUE room-all "which == (1u << E) - 1" "which != 0")
mutation("two kept items in one place" REPLACE next-place "at + size" "at")
mutation("kept items behind the places of their lane"
         VALUE kept-before "through[w] - counts_[w]" "through[w]")
mutation("kept items of earlier rows not counted" REPLACE rows-above "starts[i] + number(left" "number(left")
mutation("a share without its aggregate" DELETE share)
mutation("kept items of earlier rows of the tile left out" DELETE tallies)
mutation("missing items kept" REPLACE lane-items ": left < 0 ? 0 : left" ": E")
mutation("a total without the last share" REPLACE kept-total " + placed.items()" "")

# ---- runs, and partitions into three -------------------------------------------------------------
mutations_of(races_runs.cpp)
noticed_by("reduction by key: objects")
mutation("values of two runs combined" VALUE run-operator "right.runs != 0" "false")
mutation("the end of the last run not seen" VALUE run-last "i == last_" "false")
mutation("results one place too far" VALUE run-rank "static_cast<difference_type>(scanned.prefix.runs) - 1" "static_cast<difference_type>(scanned.prefix.runs)")
noticed_by("three parts")
mutation("the rest behind the places of the second part" VALUE rest-place "i_ - first - second" "i_ - first")
noticed_by("reduction by key")
mutation("the end of the last staged run not seen" DELETE staged-last)
mutation("the key behind the tile not copied" REPLACE staged-tail "own.end += tail<A>" "")
mutation("the key before an aligned tile not copied" DELETE rows-lead)
mutation("the key behind an aligned tile not copied" DELETE rows-tail)
mutation("runs that begin in a lane counted before it"
         REPLACE runs-before " - simt::count_bits(sides().begins)" "")
mutation("values of two runs combined in a lane"
         VALUE runs-fold "(sides[i].begins >> k & 1) != 0" "false")
mutation("values of two runs combined in a row"
         VALUE runs-network "begun[i] >> (simt::warp_threads - distance) != 0" "false")
mutation("values of two runs combined across rows"
         VALUE runs-reach "begun[i] >> (simt::warp_threads - distance) == 0" "true")
mutation("values of two runs combined when they are placed"
         VALUE runs-anew "(sides.begins >> k & 1) != 0" "false")
mutation("values of the run before combined with a lane's" VALUE runs-beside "kept[i].before() != 0" "false")
mutation("runs that begin in earlier rows not counted" REPLACE runs-first "starts_[i] + " "")
mutation("a place for a run that does not end" VALUE runs-open "simt::ballot(ends_open) != 0 ? 0 : 1" "simt::ballot(ends_open) != 0 ? 0 : 0")
mutation("no place for the newest run" VALUE runs-newest "simt::ballot(ends_newest) != 0 ? 1 : 0" "simt::ballot(ends_newest) != 0 ? 0 : 0")
mutation("the last runs not counted" REPLACE runs-total "before + starts[Count]" "before")
noticed_by("sums of runs? gathered in the second pass")
mutation("sums of earlier rows left out" VALUE sums-above "all + sums[i].through" "sums[i].through")
mutation("the last head of another lane" DELETE sums-newest)
mutation("sums of earlier items of the vector left out" REPLACE sums-in "before + " "")
mutation("the sum of the last run from the beginning" VALUE sums-last "through - newest" "through")
mutation("keys overwritten that another lane has not read" DELETE beginnings-reuse)
noticed_by("*")
mutation("the last key of the share overwritten" CODE room-last " - stays" "")
noticed_by("sums of runs? gathered in the first pass")
mutation("runs stored before every lane has put its own" DELETE beginnings-results)
noticed_by("sums of runs? gathered in the second pass")
mutation("a sum of the run before the first" VALUE sums-none "j >= none" "true")
mutation("a sum of the run before the first, one by one" VALUE sums-first "rank > 0" "true")
mutation("a run from the one before the row" VALUE sums-beside "below != 0 ? beside : newest" "newest")
mutation("a run from one of an earlier row" DELETE sums-next)
noticed_by("sums of runs? gathered in the first pass")
mutation("values overwritten that have not been gathered"
         CODE gathers-first "splits && places_runs<Problem>" "false")
noticed_by("sums of runs whose values have a ring of their own")
mutation("beginnings where the warp before reads" VALUE room-first "(at + unit - 1) / unit * unit" "at / unit * unit")
mutation("keys of the next row overwritten"
         CODE again-bytes "row_bytes - unit" "row_bytes")
mutation("sums of earlier rows left out the second time"
         VALUE again-above "all + sums[0].through" "sums[0].through")
mutation("runs of earlier rows not counted the second time" DELETE again-rank)
mutation("keys or sums overwritten that a lane has not read" DELETE again-reuse)
mutation("results stored before every lane has put its own" DELETE again-results)
mutation("a sum of the run before the first, row by row" VALUE again-first "to + from + j > 0" "true")
noticed_by("sums of runs? gathered in the second pass")
mutation("the last heads not counted" REPLACE sums-total " + placed.begun()" "")
noticed_by("reduction by key")
mutation("the key behind the row not compared" VALUE staged-right "row[row_elements]" "keys.get(E - 1)")

# ---- segments by offsets -------------------------------------------------------------------------
mutations_of(races_segmented.cpp)
mutation("segments scanned before all are found" DELETE pieces-barrier)
mutation("a unit found in the memory of the one before" DELETE packed-reuse)
mutation("a unit's segments noted before those of the one before are cleared" DELETE batch-barrier)
mutation("a tile of a segment scanned before it is found" DELETE tile-found)
mutation("the id of a segment's tile read before it is drawn" DELETE tile-drawn)
mutation("the segment of a tile overwritten before all lanes have read it" DELETE segment-compared)
mutation("rows scanned before all are reduced" DELETE rows-barrier)
mutation("a warp's first row taken for the first of its segment" VALUE rows-before "own[0].row()" "0")
mutation("R without the row before the warp's last" VALUE rows-until "count - 1" "count - 2")
noticed_by("segments: short ones? of several items a vector")
mutation("aggregates of two segments combined" VALUE rows-from "lane - position + 1" "0")
noticed_by("segments")
mutation("values of two segments combined in a row"
         VALUE slot-position "exists" "true")
mutation("a segment that ends with its warp's lanes" VALUE row-cut "last_end > simt::warp_threads" "false")
noticed_by("segments: vectors of several items")
mutation("R of the first row for all" VALUE row-of-segment "first + i - 1 - prefixes.before" "0")
noticed_by("segments: small tiles? several groups of them")
mutation("a status word not cleared for the next round" DELETE clear-tile)
noticed_by("segments")
mutation("units scanned before the kernel before has ended" DELETE units-previous)
noticed_by("segments by the pipeline*")
mutation("long segments scanned before the kernel before has ended" DELETE pipeline-previous)
noticed_by("segments: their number on the device")
mutation("an invalid number of segments not reported" REPLACE segments-report "report_count(number)" "")
mutation("batches of segments without the last" VALUE segments-entries "batches + 1" "batches")
mutation("the last of the actual segments not known"
         VALUE segments-read "number.items" "number.items - (number.items > 0)")

noticed_by("segments")
mutation("tiles of few long segments scanned by no kernel" VALUE goes-ahead "!goes_ahead" "false")
noticed_by("segments by the pipeline*")
mutation("a tile taken for the first of its segment"
         VALUE tile-place "tile - segment.first_tile" "0u")
mutation("a tile copied before its segment is found" DELETE segment-known)
mutation("the segment of a tile overwritten before the tile is scanned" DELETE segment-slot)
mutation("the latest segment read before it is found" DELETE segment-latest)
mutation("a stage filled before its tile of a segment is scanned" DELETE segment-ring)
mutation("a word of an earlier round taken for one of this round"
         VALUE ring-round "std::uint64_t{tile / Size} << round_shift" "std::uint64_t{0}")
mutation("a word overwritten that is still to be read" DELETE ring-check)
mutation("row aggregates of a segment's tile not waited for" DELETE segment-reduced)
mutation("a segment's tile reduced before it is copied" DELETE segment-copied)
mutation("row prefixes of a segment's tile not waited for" DELETE segment-rows)
mutation("the prefix of a segment's tile not waited for" DELETE segment-prefix)
mutation("a stage of a segment's tile given back by one lane for all"
         REPLACE segment-scanned
         "simt::arrive"
         "for (int l = 0; simt::lane_index() == 0 && l < 32; ++l) simt::arrive")
mutation("the pipeline of segments begun before its barriers are initialized" DELETE segment-start)
mutation("barriers of found segments not published" DELETE publish-found)

# ---- adjacent segments ---------------------------------------------------------------------------
mutations_of(races_adjacent.cpp)
noticed_by("adjacent segments: offsets of 8 bytes")
mutation("marks set before all are cleared" DELETE marks-cleared)
mutation("a tile reduced before all its marks are set" DELETE marks-written)
noticed_by("adjacent segments: more tiles than words in the ring")
mutation("marks cleared before the stage's last tile is scanned" DELETE marks-free)
noticed_by("adjacent segments: offsets of 8 bytes")
mutation("heads of a tile not marked" REPLACE marker-mark "marks, at[i]" "marks, 0")
noticed_by("adjacent segments: more tiles than words in the ring")
mutation("a search that skips an equal offset" VALUE marker-less "element(from + mine) < item"
         "element(from + mine) <= item")
mutation("first segments overwritten before they are read" DELETE heads-read)
mutation("first segments taken for found before all are" DELETE heads-written)
mutation("first segments read before they are found" DELETE heads-found)
mutation("first segments given back before all lanes have read them" DELETE heads-taken)
noticed_by("adjacent segments: offsets of 4 bytes? many of them empty")
mutation("the first segments of tiles that are not the block's" VALUE heads-known "all.step == sequence_.step" "true")
noticed_by("adjacent segments: more tiles than words in the ring")
mutation("a word of the ring overwritten that is still to be read, for sums" DELETE rounds-check)
mutation("the counters of the ring not cleared" DELETE rounds-clear)
mutation("tiles counted before the counters of the ring are cleared" DELETE adjacent-previous)
mutation("the prefix before a sum not waited for" DELETE sums-carry)
mutation("a sum written before the stage's last tile is scanned" DELETE sums-free)
mutation("heads of the next row taken for those of a row" VALUE keyed-heads "row % rows" "(row + 1) % rows")

# ---- columns -------------------------------------------------------------------------------------
mutations_of(races_columns.cpp)
noticed_by("columns: small tiles*")
mutation("a unit's elements read before all are loaded" DELETE column-loaded)
mutation("the place of short columns read before it is found" DELETE column-found)
mutation("vectors of a row combined before all are reduced" DELETE column-folded)
mutation("vectors scanned before the network of their row ends" DELETE column-combined)
mutation("results stored before all are there" DELETE column-results)
noticed_by("columns: whole strips")
mutation("the warps of a strip begun before their barriers are initialized" DELETE strip-start)
noticed_by("columns: whole strips of 2-byte elements")
mutation("elements of a strip overwritten before they are scanned" DELETE strip-read)
mutation("a room of a strip taken for empty" VALUE strip-empty "is_empty(k + 1)" "true")
mutation("elements of a strip read before all lanes have copied them" DELETE strip-loaded)
noticed_by("columns: whole strips")
mutation("a strip scanned before it is reduced" DELETE strip-full)
noticed_by("columns: more strips of 2-byte elements than rooms")
mutation("a room of a strip given back by one lane for all"
         REPLACE strip-scanned
         "simt::arrive"
         "for (int l = 0; simt::lane_index() == 0 && l < 32; ++l) simt::arrive")
noticed_by("columns: whole strips")
mutation("a refilled room handed over before its elements are there"
         VALUE refill-init "2 * simt::warp_threads" "simt::warp_threads")
noticed_by("columns: whole strips? partial units")
mutation("a refilled room reduced before its elements are there" DELETE refill-loaded)
mutation("elements replaced by those of the next unit before all lanes have read them"
         DELETE refill-read)
mutation("a partial unit replaced by the next before all lanes have read it"
         DELETE refill-all-read)
noticed_by("columns: whole strips? several tiles")
mutation("lines replaced by those of the next unit before they are scanned"
         VALUE refill-sets "most < twice ? most : twice" "twice < sets ? twice : sets")
noticed_by("columns: whole strips")
mutation("a refilled room handed over while its elements are on their way"
         REPLACE refill-copied "arrive_when_copied" "arrive")
noticed_by("columns: small tiles*,columns: whole strips*")
mutation("the strips of the last band taken for a whole band's"
         VALUE last-band "stride == most" "true")
mutation("rows of a strip combined before all are there"
         VALUE strip-ready "(l < first || l >= others || seen[l].ready())" "true")
noticed_by("columns: whole strips? several tiles")
mutation("the prefix of a strip's tile read before it is there"
         VALUE strip-outer "simt::all_of_warp(outer.ready())" "true")
noticed_by("columns: whole strips of 2-byte elements? several tiles")
mutation("the first tile of a group of pairs not combined" VALUE strip-tiles "tiles > 0"
         "tiles > 1")
noticed_by("columns: whole strips? partial units")
mutation("the first row of a strip's tile not combined" VALUE strip-first "lanes - count"
         "lanes - count + (count > 1)")
noticed_by("columns: small tiles*")
mutation("row aggregates of a column read before all are there" DELETE column-rows)
noticed_by("columns: two? as pairs")
mutation("tile aggregates of a column read before all are there" DELETE column-tiles)
noticed_by("rows by the pipeline")
mutation("aggregates of other warps' rows read before they are there" DELETE line-barrier)
noticed_by("rows in registers")
mutation("aggregates of other rows read before they are there" DELETE line-warp-barrier)
mutation("lines behind the last" DELETE last-line)
mutation("a vector read behind the end of its line" VALUE line-items "left" "left + 1")
noticed_by("rows by the pipeline")
mutation("tiles of lines drawn before their counter is cleared" DELETE line-previous)
mutation("rows of partial tiles taken for consecutive tiles"
         VALUE row-tiles "own.length % Problem::shape::tile_elements == 0" "true")
mutation("rows with gaps taken for consecutive tiles"
         VALUE row-gaps "own.output.outer == own.length" "true")
mutation("groups of a row folded into the next"
         VALUE same-tree "i > 0 && sequence.tile(i - 1) >= first" "i > 0")
mutation("the first tile of a row scanned from the prefix of an earlier tile"
         VALUE tree-flag "own.tile == 0" "false")
noticed_by("columns: small tiles*")
mutation("the prefixes of columns read before they are there" DELETE column-prefixes)
mutation("a column's status word taken for ready"
         VALUE column-ready "(first + i * distance >= all || seen[i].ready())" "true")
mutation("a group's prefix taken for ready" DELETE column-prefix-found)
mutation("a column's status word not cleared for the next round" DELETE clear-row)
mutation("units of columns drawn before their counter is cleared" DELETE column-previous)
noticed_by("columns: two? as pairs")
mutation("the second column of pairs combined with the first"
         VALUE second-column "left.values[1]" "left.values[0]")
noticed_by("columns: *2-byte elements*")
mutation("columns in pairs that begin between two pairs"
         VALUE words-aligned "addresses % word" "addresses % 2")
mutation("columns in pairs with rows of an odd distance" VALUE pair-divides "even" "true")
noticed_by("columns: two? as pairs")
mutation("two columns with gaps taken for pairs"
         VALUE pair-gaps "own.input.length == 2 && own.output.length == 2" "true")
mutation("two columns from the end scanned as pairs from the beginning"
         VALUE pair-reverse "!own.reverse" "true")
noticed_by("columns: short ones? in registers")
mutation("a vector of a short column from the beginning" VALUE short-left "v > 0" "false")
mutation("another network of a short column" VALUE short-network "1 << s" "1")
noticed_by("rows in registers: short ones")
mutation("a vector of a short row from the beginning" VALUE short-before "vector_ > 0" "false")
mutation("short rows of one network" VALUE short-line "vector_ >= distance"
         "simt::lane_index() >= distance")
mutation("short rows of a vector scanned as one" VALUE short-begin "at == 0" "k == 0")
mutation("gaps between short rows forgotten" VALUE short-gaps "no_gaps" "true")
mutation("vectors of short rows loaded from where none may be"
         VALUE short-input "moves_as_vectors<item, E>(problem.input)" "true")
mutation("vectors of short rows stored where none may go"
         VALUE short-aligned "moves_as_vectors<stored, E>(problem.sink.output)" "true")

# ---- counts that only the device knows -----------------------------------------------------------
mutations_of(races_counts.cpp)
mutation("only the first warp of a tile that is alone works"
         VALUE idle-warp "row >= working_rows(items)" "row > 0")
mutation("units of an element left where a lane's turn has put them"
         REPLACE unit-moves "moves ?" "w < 0 ?")
mutation("a count not compared with its bound" VALUE count-bound "found <= items" "true")
mutation("an invalid count scanned up to its bound" REPLACE count-read ": 0" ": items")
mutation("an invalid count not reported" REPLACE count-error "invalid_value" "invalid_value - 1")
mutation("the last of the actual runs ended too early"
         REPLACE runs-items "<difference_type>(items)" "<difference_type>(items - 1)")
mutation("rejected items behind the end of the actual results"
         REPLACE rejected-items "items}" "items + 1}")
mutation("no total of a count of 0" REPLACE actual-nothing "set_total_of_nothing(problem)" "")
mutation("the blocks of a grid taken for its tiles"
         CODE grid-tiles "counts_on_device<Problem>" "false")
mutation("a block without a tile scans one"
         VALUE no-tile "simt::block_index() >= tiles_of_grid(actual)" "false")
mutation("a block without a tile not known to its cluster" DELETE leave-cluster)
mutation("a block without a tile not known to the wave" DELETE leave-wave)
mutation("the words of a pipeline not cleared for a replay" DELETE captured-clear)
mutation("participants of a few tiles read before all parts are there" DELETE few-barrier)
mutation("the tile of its index scanned by a block that has another"
         VALUE few-fetched "here.mine == block" "true")
mutation("a tile fetched while the one fetched in vain is on its way" DELETE few-in-vain)
mutation("the tile after a fetched one not fetched" REPLACE few-next-fetched "false" "true")
mutation("one of a few tiles fetched to units that another warp still reads" DELETE next-few)
mutation("a status word of an actual tile not cleared" DELETE counted-clear)
mutation("tiles drawn before the kernel before has ended" DELETE counted-previous)
mutation("large tiles drawn before the kernel before has ended" DELETE counted-large)
mutation("a large tile scanned in the memory of the block's last one" DELETE next-large)

# ---- chunks through a device ---------------------------------------------------------------------
mutations_of(../out_of_core/chunk_stream.cpp)
mutation("a slot taken before its results are on the host" DELETE chunk-results)
mutation("a chunk scanned before it has arrived" DELETE chunk-input)
mutation("results copied before they are written" DELETE chunk-scan)
mutation("the prefix of the device's own last chunk"
         VALUE ring-before "slot + count() - 1" "slot")
mutation("an exception leaves while the device copies" VALUE chunk-drain "device.drain()" "void()")

try_mutations()

if(PLACES)
  list(REMOVE_ITEM markers ${used})
  if(markers)
    message(SEND_ERROR "no mutation uses these markers: ${markers}")
  endif()
  message(STATUS "mutations: ${mutations}")
  return()
endif()
get_property(killed GLOBAL PROPERTY killed)
get_property(survivors GLOBAL PROPERTY survivors)
list(LENGTH killed killed)
list(LENGTH survivors count)
message(STATUS "mutations killed: ${killed}, survived: ${count}")
if(count GREATER 0 OR killed EQUAL 0)
  list(JOIN survivors "\n  " text)
  message(FATAL_ERROR "no test detected these mutations:\n  ${text}")
endif()
