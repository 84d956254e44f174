# SPDX-License-Identifier: MIT
# GNU sed -E -z: what Doxygen reads of a header. Line numbers stay as they are.
# Constraints of overloads are no parameters that a caller gives.
s/,([[:space:]]*)(detail::)?if_[a-z_]+<[^=]*> = 0/\1/g
# The inline namespaces are no part of a name that a caller writes.
s/inline namespace LOOKBACK_(ABI|DEFAULT_STREAM) \{//g
s/\} (\/\/ namespace LOOKBACK_(ABI|DEFAULT_STREAM))/\1/g
