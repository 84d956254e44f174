# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)
set(lookback_package_dir share/cmake/lookback)

install(DIRECTORY include/lookback DESTINATION include FILES_MATCHING PATTERN "*.cuh")
install(FILES LICENSE DESTINATION share/doc/lookback)
install(TARGETS lookback EXPORT lookback_targets)
install(EXPORT lookback_targets NAMESPACE lookback:: DESTINATION ${lookback_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lookback-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lookback-config-version.cmake cmake/lookback-config.cmake
              cmake/lookback_cccl.cmake cmake/lookback_nccl.cmake
        DESTINATION ${lookback_package_dir})
