# SPDX-License-Identifier: MIT
# OBJECTS (separated by |): the object code of tests in which every scan and selection of Thrust is called with lookback's
# policies. It holds lookback's kernels and none of CUB's or Thrust's own for these calls. CONTROL: object code in which
# Thrust's own policies are used; a search that finds nothing there would prove nothing here.
set(cub_kernel "DeviceScan(ByKey)?(Init)?Kernel|Device(Select|UniqueByKey)SweepKernel|(ReduceByKey|Unique)Agent")
set(lookback_scan "_ZN8lookback[A-Za-z0-9_]*_kernel")

function(symbols_of object variable)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${symbols}" PARENT_SCOPE)
endfunction()

symbols_of(${CONTROL} symbols)
foreach(kernel DeviceScanKernel DeviceScanByKeyKernel DeviceScanInitKernel DeviceScanByKeyInitKernel
        DeviceSelectSweepKernel DeviceUniqueByKeySweepKernel ReduceByKeyAgent) # UniqueAgent: only before CCCL 3.5
  if(NOT symbols MATCHES ${kernel})
    message(FATAL_ERROR "the control, which calls Thrust's own policies, has no ${kernel}: this check can no longer detect CUB's kernels")
  endif()
endforeach()

string(REPLACE "|" ";" objects "${OBJECTS}")
foreach(object IN LISTS objects)
  symbols_of(${object} symbols)
  if(symbols MATCHES "[^\n]*${cub_kernel}[^\n]*")
    message(FATAL_ERROR "${object} contains a kernel of CUB: ${CMAKE_MATCH_0}")
  endif()
  if(NOT symbols MATCHES ${lookback_scan})
    message(FATAL_ERROR "${object} contains no kernel of lookback")
  endif()
  message("${object}: kernels of lookback, none of CUB")
endforeach()
