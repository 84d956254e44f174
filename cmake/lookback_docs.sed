# SPDX-License-Identifier: MIT
# What Doxygen reads of a file (cmake/lookback_docs.cmake).
# GitHub's names of headings are unknown to Doxygen 1.9.4: a link to a heading becomes a link to its page.
s/\[([^]]*)\]\(#[^)]*\)/\1/g
s/(\]\([^)#]*\.md)#[^)]*\)/\1)/g
# Constraints of overloads are no parameters that a caller gives.
s/, (detail::)?if_[a-z_]+<[A-Za-z]+> = 0>/>/
