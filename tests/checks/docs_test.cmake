# SPDX-License-Identifier: MIT
# cmake -D DOXYGEN=<doxygen> -D DOXYFILE=<target docs' settings> -D CHECK=<check.cmake> -D INCLUDE=<include directory>
#       -D WORK=<directory> -P docs_test.cmake
# Target docs itself: its checks pass copies of the headers and a page as they are, and fail for each defect put into one.
cmake_minimum_required(VERSION 3.25)

function(write_clean_copy)
  file(REMOVE_RECURSE ${WORK})
  file(COPY ${INCLUDE}/lookback DESTINATION ${WORK})
  file(WRITE ${WORK}/page.md
       "# Page\n\n[a page](other.md#heading), [a file](lookback/scan.cuh), [a site](https://example.org), "
       "`[code](x)`\n\n```cpp\n[&](int i) {}\n```\n")
  file(WRITE ${WORK}/other.md "# Other\n\n## Heading\n\n[back](page.md)\n")
  file(READ ${DOXYFILE} settings)
  file(WRITE ${WORK}/Doxyfile "${settings}
INPUT = ${WORK}/lookback ${WORK}/page.md ${WORK}/other.md
USE_MDFILE_AS_MAINPAGE =
OUTPUT_DIRECTORY = ${WORK}
SEARCHENGINE = NO
SOURCE_BROWSER = NO
VERBATIM_HEADERS = NO
")
endfunction()

function(run_checks result errors)
  execute_process(COMMAND ${DOXYGEN} ${WORK}/Doxyfile RESULT_VARIABLE code ERROR_VARIABLE text OUTPUT_QUIET)
  execute_process(COMMAND ${CMAKE_COMMAND} -D HTML=${WORK}/html -D "FILES=${WORK}/page.md;${WORK}/other.md" -P ${CHECK}
                  RESULT_VARIABLE check_code ERROR_VARIABLE check_text OUTPUT_QUIET)
  if(check_code)
    set(code ${check_code})
  endif()
  set(${result} ${code} PARENT_SCOPE)
  set(${errors} "${text}${check_text}" PARENT_SCOPE)
endfunction()

# Replaces `from` by `to` in a copy; `message`, a regular expression, is in the errors. Without one, the copy passes.
function(expect path from to message)
  write_clean_copy()
  if(from)
    file(READ ${WORK}/${path} text)
    string(FIND "${text}" "${from}" found)
    if(found EQUAL -1)
      message(SEND_ERROR "${path} does not have '${from}'")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
    file(WRITE ${WORK}/${path} "${text}")
  endif()
  run_checks(code errors)
  if(message)
    if(code EQUAL 0 OR NOT errors MATCHES "error: ${message}")
      message(SEND_ERROR "${path} with '${to}' gave ${code}, not '${message}':\n${errors}")
    endif()
  elseif(NOT code EQUAL 0)
    message(SEND_ERROR "${path} with '${to}' gave ${code}:\n${errors}")
  endif()
endfunction()

expect("" "" "" "")
set(end "} // namespace LOOKBACK_ABI\n} // namespace lookback\n")
expect(lookback/device_scan.cuh "${end}" "int nameless();\n${end}" "Member nameless[^\n]* of namespace lookback is not documented")
expect(lookback/device_scan.cuh "${end}" "struct nameless {};\n${end}" "undocumented: +C +nameless")
expect(lookback/device_scan.cuh "public:\n" "public:\n  static int nameless();\n"
       "Member nameless[^\n]* of struct lookback::DeviceScan is not documented")
expect(lookback/core/monoid.cuh "  /// Returns a + b.\n" "" "Member operator[^\n]*of struct lookback::plus is not documented")
expect(lookback/device_scan.cuh "${end}" "namespace detail {\nint nameless();\n}\n${end}" "")
expect(lookback/device_scan.cuh "@ref strategies" "@ref nowhere" "unable to resolve reference to 'nowhere'")
expect(page.md "(other.md" "(nowhere.md" "unable to resolve reference to 'nowhere.md'")
expect(page.md "(lookback/scan.cuh)" "(lookback/nowhere.cuh)" "link to 'lookback/nowhere.cuh', which does not exist")
