// SPDX-License-Identifier: MIT
#include "algorithms.cuh"

std::vector<perf::algorithm> perf::catalogue() {
  using namespace lookback;
  return {
      {"lookback:scan_then_add<sequential>", inclusive_sum_by<scan_then_add<sequential>>},
      {"lookback:scan_then_add<hillis_steele>", inclusive_sum_by<scan_then_add<hillis_steele>>},
      {"lookback:scan_then_add<kogge_stone_global>",
       inclusive_sum_by<scan_then_add<kogge_stone<memory_of::global>>>},
      {"lookback:scan_then_add<kogge_stone_in_place>",
       inclusive_sum_by<scan_then_add<kogge_stone<memory_of::shared>>>},
      {"lookback:scan_then_add<kogge_stone>", inclusive_sum_by<scan_then_add<kogge_stone<>>>},
      {"lookback:scan_then_add<brent_kung>", inclusive_sum_by<scan_then_add<brent_kung>>},
      {"lookback:scan_then_add<blelloch_unpadded>",
       inclusive_sum_by<scan_then_add<blelloch<bank_padding::off>>>},
      {"lookback:scan_then_add<blelloch_adjacent>",
       inclusive_sum_by<scan_then_add<blelloch<bank_padding::on, load_pairs::adjacent>>>},
      {"lookback:scan_then_add<blelloch>", inclusive_sum_by<scan_then_add<blelloch<>>>},
      {"lookback:scan_then_add<warp_shuffle>", inclusive_sum_by<scan_then_add<warp_shuffle>>},
      {"lookback:scan_then_add<three_phase>", inclusive_sum_by<scan_then_add<three_phase<>>>},
      {"lookback:reduce_then_scan", inclusive_sum_by<reduce_then_scan<>>},
      {"lookback:chained", inclusive_sum_by<chained<>>},
      {"lookback:auxiliary_block", inclusive_sum_by<auxiliary_block<>>},
      {"lookback:decoupled_look_back<by_thread>",
       inclusive_sum_by<decoupled_look_back<walk_by_thread>>},
      {"lookback:decoupled_look_back<by_thread_static>",
       inclusive_sum_by<decoupled_look_back<walk_by_thread, static_ids>>},
      {"lookback:decoupled_look_back<by_warp>",
       inclusive_sum_by<decoupled_look_back<walk_by_warp>>},
      {"lookback:decoupled_look_back<by_warp_static>",
       inclusive_sum_by<decoupled_look_back<walk_by_warp, static_ids>>},
      {"lookback:look_ahead", inclusive_sum_by<look_ahead>},
      {"lookback", inclusive_sum_by<fastest>},
  };
}
