# SPDX-License-Identifier: MIT
# For lookback's own tests and comparison; not exported.
add_library(lookback_warnings INTERFACE)
target_compile_options(lookback_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
