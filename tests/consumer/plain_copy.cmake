# SPDX-License-Identifier: MIT
# Copies include/ elsewhere, compiles SOURCE with that copy and CCCL's headers and nothing else, and runs it.
file(REMOVE_RECURSE ${WORK})
file(COPY ${INCLUDE} DESTINATION ${WORK})

# The compiler's own directories, less one where the CUDA runtime's headers are installed: they are not CCCL's.
execute_process(COMMAND ${COMPILER} -E -v -x c++ /dev/null ERROR_VARIABLE verbose OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*#include <[.][.][.]> search starts here:\n(.*)End of search list.*" "\\1" verbose "${verbose}")
string(REGEX MATCHALL "/[^\n]+" directories "${verbose}")
set(system_includes -nostdinc -nostdinc++)
foreach(directory IN LISTS directories)
  if(NOT EXISTS ${directory}/cuda_runtime_api.h)
    list(APPEND system_includes -isystem ${directory})
  endif()
endforeach()

execute_process(COMMAND ${COMPILER} -std=c++17 -O2 -Wall -Wextra -Werror -pthread ${system_includes}
                        -I ${WORK}/include -isystem ${CCCL} ${SOURCE} -o ${WORK}/program COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/program COMMAND_ERROR_IS_FATAL ANY)
