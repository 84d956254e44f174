# SPDX-License-Identifier: MIT
# lookback_plain_flags: what a C++ compiler of its own choosing needs for lookback's headers and tests, where CMake's is another.
set(lookback_plain_flags ${LOOKBACK_CCCL_INCLUDE_DIR} ${LOOKBACK_CUDA_INCLUDE_DIR})
list(FILTER lookback_plain_flags EXCLUDE REGEX "NOTFOUND$")
list(TRANSFORM lookback_plain_flags PREPEND -isystem)
if(NOT LOOKBACK_CUDA_INCLUDE_DIR)
  list(APPEND lookback_plain_flags -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP)
endif()
list(APPEND lookback_plain_flags -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests -Wall -Wextra -Werror -pthread)
