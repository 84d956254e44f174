// SPDX-License-Identifier: MIT
// All public headers of lookback.
#pragma once

/// @namespace lookback
/// Scans with one fixed order of association, for Thrust's and CUB's callers. See @ref doors.

/// @defgroup doors Public headers
/// The headers that a program includes. Each can be included alone.
///
/// | header | contents |
/// |---|---|
/// | `<lookback/execution_policy.cuh>` | @ref policies for Thrust's scans, @ref host included |
/// | `<lookback/scan.cuh>` | @ref thrust_scans |
/// | `<lookback/selection.cuh>` | @ref thrust_selections |
/// | `<lookback/segmented_scan.cuh>` | @ref segmented_scans |
/// | `<lookback/axis_scan.cuh>` | @ref axes |
/// | `<lookback/continued_scan.cuh>` | @ref continued_scans, on the CPU or a GPU |
/// | `<lookback/out_of_core.cuh>` | @ref out_of_core_scans |
/// | `<lookback/device_scan.cuh>`, `<lookback/device_segmented_scan.cuh>` | @ref cub_scans |
/// | `<lookback/device_axis_scan.cuh>` | the same, along an axis |
/// | `<lookback/device_select.cuh>`, `<lookback/device_partition.cuh>` | @ref cub_selections |
/// | `<lookback/device_reduce.cuh>`, `<lookback/device_run_length_encode.cuh>` | the same |
/// | `<lookback/catalogue.cuh>` | @ref strategies |
/// | `<lookback/block_scan.cuh>` | @ref block_scans |
/// | `<lookback/lookback.cuh>` | all of the above |
/// | `<lookback/distributed.cuh>` | @ref distributed_scans, on CPUs or GPUs |
/// | `<lookback/distributed_scan.cuh>` | the same on GPUs, in CUB's shape |
/// | `<lookback/distributed/nccl_communicator.cuh>` | a communicator for GPUs; needs NCCL |

/// @defgroup thrust_scans Thrust's scans
/// @ingroup doors

/// @defgroup thrust_selections Thrust's selections
/// @ingroup doors

/// @defgroup segmented_scans Scans of segments
/// @ingroup doors

/// @defgroup axes Scans along an axis
/// @ingroup doors

/// @defgroup continued_scans Scans in chunks
/// @ingroup doors

/// @defgroup out_of_core_scans Scans of host memory through a GPU
/// @ingroup doors

/// @defgroup distributed_scans Scans of distributed sequences
/// @ingroup doors

/// @defgroup cub_scans CUB's scans
/// lookback::DeviceScan and lookback::DeviceSegmentedScan in place of CUB's classes, with the same
/// arguments; and lookback::DeviceAxisScan, which CUB lacks. Include neither Thrust nor CUB.
/// @ingroup doors

/// @defgroup cub_selections CUB's selections
/// lookback::DeviceSelect, lookback::DevicePartition, lookback::DeviceReduce and
/// lookback::DeviceRunLengthEncode in place of CUB's classes. Include neither Thrust nor CUB.
/// @ingroup doors

/// @defgroup policies Policies
/// lookback::par in place of `thrust::cuda::par`. A policy determines where a scan runs, its
/// temporary memory, and whether the call waits. lookback::host is the policy of the CPU.

/// @defgroup host Host system
/// The same scans with the same bits on the threads of the CPU, with or without a CUDA compiler.

/// @defgroup strategies Strategies

/// @defgroup block_scans Block scans

/// @defgroup tree Reduction tree and operators
/// The one order of association of lookback's scans, and the operators that calls without an
/// operator use.

#include <lookback/axis_scan.cuh>
#include <lookback/continued_scan.cuh>
#include <lookback/execution_policy.cuh>
#include <lookback/out_of_core.cuh>
#include <lookback/scan.cuh>
#include <lookback/segmented_scan.cuh>
#include <lookback/selection.cuh>
#if defined(__CUDACC__)
#include <lookback/catalogue.cuh>
#include <lookback/device_axis_scan.cuh>
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_run_length_encode.cuh>
#include <lookback/device_scan.cuh>
#include <lookback/device_segmented_scan.cuh>
#include <lookback/device_select.cuh>
#endif
