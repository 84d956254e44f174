# SPDX-License-Identifier: MIT
# OBJECTS (separated by |): the object code of tests in which every scan of Thrust is called with lookback's policies. It
# holds lookback's kernels and none of CUB's scans. CONTROL: object code in which Thrust's own policies scan; a search that
# finds nothing there would prove nothing here.
set(cub_scan "DeviceScan(ByKey)?(Init)?Kernel")
set(lookback_scan "_ZN8lookback[A-Za-z0-9_]*_kernel")

function(symbols_of object variable)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${symbols}" PARENT_SCOPE)
endfunction()

symbols_of(${CONTROL} symbols)
foreach(kernel DeviceScanKernel DeviceScanByKeyKernel DeviceScanInitKernel DeviceScanByKeyInitKernel)
  if(NOT symbols MATCHES ${kernel})
    message(FATAL_ERROR "the control, which scans with Thrust, has no ${kernel}: this check can no longer detect CUB's kernels")
  endif()
endforeach()

string(REPLACE "|" ";" objects "${OBJECTS}")
foreach(object IN LISTS objects)
  symbols_of(${object} symbols)
  if(symbols MATCHES "[^\n]*${cub_scan}[^\n]*")
    message(FATAL_ERROR "${object} contains a scan kernel of CUB: ${CMAKE_MATCH_0}")
  endif()
  if(NOT symbols MATCHES ${lookback_scan})
    message(FATAL_ERROR "${object} contains no kernel of lookback")
  endif()
  message("${object}: kernels of lookback, no scan kernel of CUB")
endforeach()
