# SPDX-License-Identifier: MIT
# GNU sed -E -z: what Doxygen reads of a Markdown file; check.cmake checks the links as they are written.
# Doxygen 1.9.4 does not know GitHub's names of headings: a link to a heading becomes a link to its page.
s/\[([^]]*)\]\(#[^)]*\)/\1/g
s/(\]\([^):#]*\.md)#[^)]*\)/\1)/g
# Only pages and pictures are there to be linked to: a link to another file of the project becomes its text.
s/(^|[^!])\[([^]]*)\]\(([^):#]*\.md)\)/\1[\2](\x01\3)/g
s/(^|[^!])\[([^]]*)\]\([^):#\x01]*\)/\1\2/g
s/\x01//g
