// SPDX-License-Identifier: MIT
// std::min, std::max, std::plus and std::iterator_traits. <functional> and <algorithm> have them,
// and thousands of lines more that every translation unit would read three times. If the library
// has smaller internal headers for them, those are included instead.
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
