# SPDX-License-Identifier: MIT
# cmake -D FILE=path -P write_large_file.cmake: 68000019 bytes, more than a chunk of line_index. The second of
# three lines is longer than a chunk, and the last has no newline.
string(REPEAT "0123456789abcdef" 4250000 long_line)
file(WRITE ${FILE} "the first\n${long_line}\nthe last")
