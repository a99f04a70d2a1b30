//! How long kubelets may keep what Secrets and ConfigMaps held, by the size of the cluster.

/// The annotation of nodes and its value, in seconds, in a cluster that has grown to so many nodes.
/// Mirrors the `ttlBoundaries` of `pkg/controller/ttl`; a cluster that shrinks keeps a longer time
/// for a while, which is left out.
#[must_use]
pub const fn node_ttl(nodes: usize) -> (&'static str, u32) {
    let seconds = match nodes {
        ..=100 => 0,
        101..=500 => 15,
        501..=1000 => 30,
        1001..=2000 => 60,
        _ => 300,
    };
    ("node.alpha.kubernetes.io/ttl", seconds)
}

#[cfg(test)]
mod tests {
    use super::node_ttl;

    #[test]
    fn larger_clusters_keep_longer() {
        let seconds = [1, 100, 101, 500, 501, 1000, 2000, 2001].map(|nodes| node_ttl(nodes).1);
        assert_eq!(seconds, [0, 0, 15, 15, 30, 30, 60, 300]);
    }
}
