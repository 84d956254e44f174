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
    message(FATAL_ERROR "the control, which scans by Thrust, shows no ${kernel}: this check has gone blind")
  endif()
endforeach()

string(REPLACE "|" ";" objects "${OBJECTS}")
foreach(object IN LISTS objects)
  symbols_of(${object} symbols)
  if(symbols MATCHES "[^\n]*${cub_scan}[^\n]*")
    message(FATAL_ERROR "${object} has a kernel of CUB's scans: ${CMAKE_MATCH_0}")
  endif()
  if(NOT symbols MATCHES ${lookback_scan})
    message(FATAL_ERROR "${object} has no kernel of lookback's")
  endif()
  message("${object}: lookback's kernels, none of CUB's scans")
endforeach()
