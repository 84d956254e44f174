# SPDX-License-Identifier: MIT
# Target `docs`, where Doxygen is installed: the API's pages, docs/html/index.html in the build directory, from the
# docstrings of the headers and the Markdown files, README.md first. An undocumented public name, a broken reference and
# a broken link are errors.
if(NOT PROJECT_IS_TOP_LEVEL)
  return() # `docs` may be a target of the project around this one
endif()
find_package(Doxygen 1.9.4 QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()

set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/include)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_IMAGE_PATH ${PROJECT_SOURCE_DIR}/perf/results)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_CLASS_GRAPH NO) # bases are no part of the interface
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_GENERATE_TREEVIEW YES)
set(DOXYGEN_HTML_EXTRA_STYLESHEET ${CMAKE_CURRENT_LIST_DIR}/docs/style.css) # pictures as wide as the page
set(DOXYGEN_SHOW_FILES NO)
set(DOXYGEN_SORT_MEMBER_DOCS NO)
set(DOXYGEN_MULTILINE_CPP_IS_BRIEF YES) # the first paragraph

# Public: the names of namespace lookback, without those of its implementation.
set(DOXYGEN_FILE_PATTERNS *.cuh *.md)
set(DOXYGEN_EXTENSION_MAPPING cuh=C++)
set(lookback_docs_filter "sed -E -z -f ${CMAKE_CURRENT_LIST_DIR}/docs")
set(DOXYGEN_FILTER_PATTERNS "*.cuh=${lookback_docs_filter}/headers.sed" "*.md=${lookback_docs_filter}/prose.sed")
set(DOXYGEN_EXCLUDE_SYMBOLS lookback::detail lookback::detail::* lookback::simt lookback::simt::*
    lookback::*::block lookback::*::block::*)

# The compiler's view: a CUDA compiler's, without the words that mark functions for it.
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_PREDEFINED __CUDACC__ LOOKBACK_DEVICE= LOOKBACK_HOST_DEVICE= LOOKBACK_HOST_DEVICE_INLINE=
    LOOKBACK_HOST_INLINE=inline LOOKBACK_HOST_NOINLINE= LOOKBACK_NO_EXECUTION_CHECK= LOOKBACK_UNROLL=
    LOOKBACK_ROLLED= LOOKBACK_LIKELY= LOOKBACK_INDEPENDENT= LOOKBACK_HOST_UNROLL=
    "LOOKBACK_GLOBAL_CONSTANT=inline constexpr" "LOOKBACK_KERNEL(threads,blocks)=void"
    LOOKBACK_KERNEL_PARAMETER=const)

file(GLOB lookback_prose CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/perf/*.md
     ${PROJECT_SOURCE_DIR}/tests/*.md ${PROJECT_SOURCE_DIR}/tests/*/*.md)
doxygen_add_docs(docs ${PROJECT_SOURCE_DIR}/include/lookback ${lookback_prose}
                 COMMENT "The API's pages: ${DOXYGEN_OUTPUT_DIRECTORY}/html/index.html")
add_custom_command(TARGET docs POST_BUILD VERBATIM
                   COMMAND ${CMAKE_COMMAND} -D HTML=${DOXYGEN_OUTPUT_DIRECTORY}/html -D "FILES=${lookback_prose}"
                           -P ${CMAKE_CURRENT_LIST_DIR}/docs/check.cmake)
