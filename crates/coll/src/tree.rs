//! Binomial trees and rotated ranks, as arithmetic.
//!
//! In the tree over `n` nodes with root 0, node `v` covers the nodes `v..v + span(v, n)`; its children are
//! `v + 1, v + 2, v + 4, ...` below its lowest set bit. Each subtree is a run of consecutive nodes, so that
//! gathers move contiguous blocks and reductions keep rank order.

/// The node that `rank` is when the tree is rooted at `root`.
pub fn node(rank: usize, root: usize, n: usize) -> usize {
    if rank >= root { rank - root } else { rank + n - root }
}

/// The rank of a node: the inverse of [`node`].
pub fn rank(node: usize, root: usize, n: usize) -> usize {
    let r = node + root;
    if r >= n { r - n } else { r }
}

/// The parent of a node other than 0.
pub fn parent(v: usize) -> usize {
    v & (v - 1)
}

/// The distances to the children of `v`, nearest (smallest subtree) first.
pub fn distances(v: usize, n: usize) -> impl DoubleEndedIterator<Item = usize> + Clone {
    let levels = if v == 0 { usize::BITS - (n.max(1) - 1).leading_zeros() } else { v.trailing_zeros() };
    (0..levels as usize).map(|k| 1 << k).filter(move |d| v + d < n)
}

/// How many nodes the subtree of `v` has.
pub fn span(v: usize, n: usize) -> usize {
    let full = if v == 0 { n } else { 1 << v.trailing_zeros() };
    full.min(n - v)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_node_has_one_parent_and_spans_add_up() {
        for n in 1..70 {
            let mut seen = vec![0; n];
            for v in 0..n {
                let mut covered = 1;
                for d in distances(v, n) {
                    assert_eq!(parent(v + d), v, "n {n}");
                    seen[v + d] += 1;
                    assert_eq!(v + d, v + covered, "children follow each other");
                    covered += span(v + d, n);
                }
                assert_eq!(covered, span(v, n), "n {n} v {v}");
            }
            assert!(seen[0] == 0 && seen[1..].iter().all(|&s| s == 1), "n {n}");
        }
    }

    #[test]
    fn rotation_is_inverted() {
        for n in 1..9 {
            for root in 0..n {
                assert_eq!(node(root, root, n), 0);
                assert!((0..n).all(|r| rank(node(r, root, n), root, n) == r));
            }
        }
    }
}
