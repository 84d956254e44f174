// SPDX-License-Identifier: MIT
// The protocol of carry/look_back_carry.cuh for Spin: cells with a flag beside the value, tickets, and SLOTS places in which blocks
// run, one after another, each to its end.
//
//   TILES, GROUP, SLOTS       tiles of the scan, tiles of a group, blocks that run at once
//   STATIC_IDS                a block's tile is its index, and the scheduler may begin with the last block
//   PUBLISH_BEFORE_PAYLOAD    the flag of a cell is set before its value
//   TOTALS_NOT_ASKED          a walk takes the totals between a prefix and itself without asking whether they are there
//
// Values are intervals of tiles, which join only with their right neighbour: an operand that is invalid, repeated or misplaced
// fails an assertion. A wait is a poll, as in the kernel, so a lock-up is a cycle that fair scheduling does not leave.

#define GROUPS ((TILES - 1) / GROUP + 1)

typedef cell {
  bit ready;
  byte begin, end; // tiles [begin, end); nothing before it is published
};

cell tile_aggregates[TILES];
cell group_aggregates[GROUPS];
cell group_prefixes[GROUPS]; // entry g is G(g + 1)
byte next_tile_id;
byte last_tile = TILES; // blocks with static ids start from either end
byte scanned;           // tiles that are done

inline publish(to, first, last) {
#ifdef PUBLISH_BEFORE_PAYLOAD
  to.ready = 1;
  d_step { to.begin = first; to.end = last }
#else
  d_step { to.begin = first; to.end = last }
  to.ready = 1
#endif
}

// `joined` is where an interval ends, and then where it ends with the value of `operand` joined to it.
inline append(operand, joined) {
  d_step {
    assert(operand.begin == joined && operand.begin < operand.end);
    joined = operand.end
  }
}

// One block: tile `tile`. Everything left of a place is [0, place), so that its end says all of it.
inline scan_tile() {
  d_step {
    group = tile / GROUP;
    first = group * GROUP;
    is_last = (tile + 1 == TILES);
    completes_group = (tile + 1 == first + GROUP && !is_last)
  }
  if
  :: !is_last -> publish(tile_aggregates[tile], tile, tile + 1)
  :: else
  fi;

  // Totals of the tiles before it in its group: all are needed, so the order of the polls is of no account.
  d_step { j = first; within = first }
  do
  :: j < tile ->
     if
     :: tile_aggregates[j].ready -> append(tile_aggregates[j], within); j++
     :: else
     fi
  :: else -> break
  od;
  if
  :: completes_group -> publish(group_aggregates[group], first, tile + 1)
  :: else
  fi;

  // G(group)
  left = 0;
  if
  :: group > 0 && completes_group ->
     // The lanes of the warp watch one group each, at once. What matters of what they see: the nearest prefix, and whether
     // every total between is there.
     j = group;
     do
     :: group_prefixes[j - 1].ready -> break
     :: else ->
        if
#ifdef TOTALS_NOT_ASKED
        :: j > 1 -> j--
#else
        :: j > 1 && group_aggregates[j - 1].ready -> j--
#endif
        :: else -> j = group // the next look
        fi
     od;
     append(group_prefixes[j - 1], left);
     do
     :: j < group -> append(group_aggregates[j], left); j++
     :: else -> break
     od
  :: group > 0 && !completes_group ->
     do
     :: group_prefixes[group - 1].ready -> break
     :: else
     od;
     append(group_prefixes[group - 1], left)
  :: else
  fi;
  if
  :: completes_group -> publish(group_prefixes[group], 0, tile + 1)
  :: else
  fi;
  assert(left == first && within == tile);
  d_step { scanned++; group = 0; first = 0; is_last = 0; completes_group = 0; j = 0; within = 0; left = 0; tile = 0 }
}

active [SLOTS] proctype slot() {
  byte tile, group, first, within, left, j;
  bit is_last, completes_group;
  do
  :: atomic { next_tile_id < last_tile -> tile = next_tile_id; next_tile_id++ }
     scan_tile()
#ifdef STATIC_IDS
  :: atomic { next_tile_id < last_tile -> last_tile--; tile = last_tile }
     scan_tile()
#endif
  :: scanned == TILES -> break
  od
}
