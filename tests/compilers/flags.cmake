# SPDX-License-Identifier: MIT
# lookback_plain_flags: flags for lookback's headers and tests, for compilers other than CMake's own.
set(lookback_plain_flags ${LOOKBACK_CCCL_INCLUDE_DIR} ${LOOKBACK_CUDA_INCLUDE_DIR})
list(FILTER lookback_plain_flags EXCLUDE REGEX "NOTFOUND$")
list(TRANSFORM lookback_plain_flags PREPEND -isystem)
if(NOT LOOKBACK_CUDA_INCLUDE_DIR)
  list(APPEND lookback_plain_flags -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP)
endif()
list(APPEND lookback_plain_flags -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests
     -Wall -Wextra -Werror -pthread)
