# SPDX-License-Identifier: MIT
# GNU sed -E -z: what Doxygen reads of a file (cmake/lookback_docs.cmake). Line numbers stay as they are.
# GitHub's names of headings are unknown to Doxygen 1.9.4: a link to a heading becomes a link to its page.
s/\[([^]]*)\]\(#[^)]*\)/\1/g
s/(\]\([^)#]*\.md)#[^)]*\)/\1)/g
# Constraints of overloads are no parameters that a caller gives.
s/,([[:space:]]*)(detail::)?if_[a-z_]+<[^=]*> = 0/\1/g
# The inline namespace is no part of a name that a caller writes.
s/inline namespace LOOKBACK_DEFAULT_STREAM \{//g
s/\} (\/\/ namespace LOOKBACK_DEFAULT_STREAM)/\1/g
