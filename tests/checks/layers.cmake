# SPDX-License-Identifier: MIT
# cmake -D ROOT=<directory that holds lookback/> -P layers.cmake
# Fails, naming file and line, unless in every header under ROOT
#   - includes point from the doors down: core <- arch <- block <- tile <- carry <- strategy <- dispatch <- doors, host/
#     takes from core/ and arch/ alone, and distributed/ from all of them;
#   - no two headers share a base name;
#   - lookback's headers are included with angle brackets;
#   - hardware words (asm, intrinsics, thread ids, barriers, atomics) stand in arch/simt.cuh, simt_sm90.cuh, simt_grid.cuh
#     and simt_parts.cuh, and the CPU's in simt_host.cuh, simt_lanes.cuh and simt_rows.cuh, alone;
#   - namespace lookback is opened together with the inline namespace LOOKBACK_ABI, whose macro is defined: such a header
#     includes another one of lookback's, and in the end core/config.cuh.
cmake_minimum_required(VERSION 3.25)

# Each room includes itself and the rooms before it.
set(rooms)
foreach(room IN ITEMS core arch block tile carry strategy dispatch)
  list(APPEND rooms ${room})
  set(may_include_${room} ${rooms})
endforeach()
set(may_include_host core arch host)
set(may_include_distributed ${rooms} host distributed)
set(may_include_door ${rooms} host distributed door)

set(hardware_word "asm|threadIdx|blockIdx|blockDim|gridDim|warpSize"
    "|__(shfl|ballot|any|all|match|reduce|activemask|sync|threadfence|nanosleep|trap|cvta|ld|st|cluster)[a-z_]*"
    "|__(popc|ffs|clz|brev|byte_perm|funnelshift|dp[24]a|v[a-z]+[24])[a-z_]*"
    "|atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_[a-z]+)?|(cuda::)?ptx::[a-z_]+"
    "|__builtin_nv|__nvvm_[a-z_]*|__iAtomic[A-Za-z]*|cooperative_groups"
    "|__builtin_prefetch|_mm_[a-z0-9_]+")
string(CONCAT hardware_word ${hardware_word})

set(violations "")
function(violation where what)
  set_property(GLOBAL APPEND_STRING PROPERTY violations "${where}: ${what}\n")
endfunction()

function(layer_of path result)
  if(path MATCHES "^lookback/([a-z_]+)/")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} door PARENT_SCOPE)
  endif()
endfunction()

function(check_include path layer where line)
  if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*\"")
    violation("${where}" "included with quotes, not with angle brackets")
  elseif(line MATCHES "^[ \t]*#[ \t]*include[ \t]*<(lookback/[^>]*)>")
    set(included ${CMAKE_MATCH_1})
    layer_of(${included} included_layer)
    if(NOT included_layer IN_LIST may_include_${layer})
      violation("${where}" "${layer} includes ${included_layer} (${included})")
    endif()
  endif()
endfunction()

file(REAL_PATH ${ROOT} ROOT)
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/lookback/*)
if(NOT headers)
  message(FATAL_ERROR "no headers under ${ROOT}/lookback")
endif()
foreach(path IN LISTS headers)
  layer_of(${path} layer)
  if(NOT DEFINED may_include_${layer})
    violation(${path} "unknown layer ${layer}")
  endif()
  get_filename_component(base ${path} NAME)
  if(DEFINED path_of_${base})
    violation(${path} "has the base name of ${path_of_${base}}")
  endif()
  set(path_of_${base} ${path})

  # One list entry a line: what CMake's lists would read as structure becomes a blank.
  file(READ ${ROOT}/${path} text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  string(REGEX REPLACE "\n$" "" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")

  if(text MATCHES "namespace lookback {" AND NOT text MATCHES "(^|\n)#include <lookback/")
    violation(${path} "includes no header of lookback, so LOOKBACK_ABI may not be defined")
  endif()

  set(number 0)
  set(in_comment FALSE)
  set(opens_namespace FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(in_comment)
      if(NOT line MATCHES "\\*/")
        continue()
      endif()
      string(REGEX REPLACE "^.*\\*/" "" line "${line}")
      set(in_comment FALSE)
    endif()
    string(REGEX REPLACE "//.*$" "" line "${line}")
    string(REGEX REPLACE "/\\*[^*]*\\*/" " " line "${line}")
    if(line MATCHES "/\\*")
      string(REGEX REPLACE "/\\*.*$" "" line "${line}")
      set(in_comment TRUE)
    endif()

    string(REGEX REPLACE "[ \t]+$" "" line "${line}")
    if((line MATCHES "^[ \t]*namespace[ \t]+lookback($|[^A-Za-z0-9_])" AND NOT line STREQUAL "namespace lookback {")
       OR (opens_namespace AND NOT line STREQUAL "inline namespace LOOKBACK_ABI {"))
      violation("${path}:${number}" "namespace lookback without the inline namespace LOOKBACK_ABI")
    endif()
    string(COMPARE EQUAL "${line}" "namespace lookback {" opens_namespace)
    check_include(${path} ${layer} "${path}:${number}" "${line}")
    if(NOT layer STREQUAL "arch"
       AND line MATCHES "(^|[^A-Za-z0-9_.])(${hardware_word})($|[^A-Za-z0-9_])")
      violation("${path}:${number}" "${CMAKE_MATCH_2} outside arch/")
    endif()
  endforeach()
endforeach()

get_property(violations GLOBAL PROPERTY violations)
if(violations)
  message(NOTICE "${violations}")
  message(FATAL_ERROR "the headers under ${ROOT} violate the layers; each violation is listed above")
endif()
list(LENGTH headers count)
message(STATUS "${count} headers keep the layers")
