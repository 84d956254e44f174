# SPDX-License-Identifier: MIT
# PROGRAMS (separated by |): the PTX of tests in which every scan and selection of Thrust is called with lookback's
# policies. It has lookback's kernels and none of CUB's or Thrust's own for these calls. CONTROL: PTX of calls with Thrust's
# own policies; a search that finds nothing there would prove nothing here.
set(cub_kernel "DeviceScan(ByKey)?(Init)?Kernel|Device(Select|UniqueByKey)SweepKernel|(ReduceByKey|Unique)Agent")
set(lookback_scan "_ZN8lookback[A-Za-z0-9_]*_kernel")

# The kernels' symbols: `.entry NAME(`.
file(STRINGS ${CONTROL} kernels REGEX "[.]entry ")
foreach(kernel DeviceScanKernel DeviceScanByKeyKernel DeviceScanInitKernel DeviceScanByKeyInitKernel
        DeviceSelectSweepKernel DeviceUniqueByKeySweepKernel ReduceByKeyAgent) # UniqueAgent: only before CCCL 3.5
  if(NOT kernels MATCHES ${kernel})
    message(FATAL_ERROR "the control, which calls Thrust's own policies, has no ${kernel}: this check can no longer detect CUB's kernels")
  endif()
endforeach()

string(REPLACE "|" ";" programs "${PROGRAMS}")
foreach(program IN LISTS programs)
  file(STRINGS ${program} kernels REGEX "[.]entry ")
  if(kernels MATCHES "[A-Za-z0-9_]*(${cub_kernel})[A-Za-z0-9_]*")
    message(FATAL_ERROR "${program} contains a kernel of CUB: ${CMAKE_MATCH_0}")
  endif()
  if(NOT kernels MATCHES ${lookback_scan})
    message(FATAL_ERROR "${program} contains no kernel of lookback")
  endif()
  message("${program}: kernels of lookback, none of CUB")
endforeach()
