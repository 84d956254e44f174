// SPDX-License-Identifier: MIT
// std::min, std::max, std::plus and std::iterator_traits. Of the C++ library's <functional> and <algorithm> they are a small part, and
// those two take half a second of every translation unit: where the library keeps the part in headers of its own, these are read.
#pragma once

#include <cstddef>

#if __has_include(<bits/stl_algobase.h>) && __has_include(<bits/stl_function.h>)
#include <bits/stl_algobase.h>
#include <bits/stl_function.h>
#else
#include <algorithm>
#include <functional>
#include <iterator>
#endif
