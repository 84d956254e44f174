# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/lookback_cccl.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lookback_targets.cmake)
