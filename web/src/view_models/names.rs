//! Long names in little room: parts that they share go first, parts that tell them apart stay.

/// Bytes up to which a name is never cut.
const SHORT: usize = 8;
/// Bytes up to which the last part of a name stays.
const LAST: usize = 12;
/// The letters of the ends of names that Kubernetes generates.
const SAFE: &str = "bcdfghjklmnpqrstvwxz2456789";

/// The bytes that the names of a group have in common, at their beginnings and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shared {
    prefix: usize,
    suffix: usize,
}

impl Shared {
    /// The part that all of these names share: whole words at the beginning, a whole domain at the
    /// end.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = names.into_iter();
        let Some(first) = names.next() else { return Self::default() };
        let (mut prefix, mut suffix, mut shortest, mut many) =
            (first.len(), first.len(), first.len(), false);
        for name in names {
            many = true;
            let same = |(a, b): &(u8, u8)| a == b;
            prefix = first.bytes().zip(name.bytes()).take(prefix).take_while(same).count();
            let ends = first.bytes().rev().zip(name.bytes().rev());
            suffix = ends.take(suffix).take_while(same).count();
            shortest = shortest.min(name.len());
        }
        if !many {
            return Self::default();
        }
        let begins = first.get(..prefix).unwrap_or_default();
        let prefix = begins.rfind(['-', '.', '/']).map_or(0, |place| place + 1);
        let ends = first.get(first.len() - suffix..).unwrap_or_default();
        let suffix = ends.find('.').map_or(0, |place| ends.len() - place);
        if prefix + suffix < shortest { Self { prefix, suffix } } else { Self::default() }
    }

    /// A name in four parts: the shared beginning, the middle, the last part, and the shared end. A
    /// short name is all middle.
    pub(crate) fn parts(self, name: &str) -> [&str; 4] {
        if name.len() <= SHORT {
            return ["", name, "", ""];
        }
        let (before, rest) = name.split_at_checked(self.prefix).unwrap_or(("", name));
        let end = rest.len().saturating_sub(self.suffix);
        let (rest, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let last = rest.rfind('-').filter(|place| *place > 0 && rest.len() - place <= LAST);
        let (middle, last) =
            rest.split_at_checked(last.unwrap_or(rest.len())).unwrap_or((rest, ""));
        [before, middle, last, after]
    }
}

/// The name of the workload that a pod's name was made from: `web` of `web-7d4b9c6f5-x2x8p`.
pub(crate) fn without_suffixes(pod: &str) -> &str {
    let strip = |name: &'_ str, lengths: std::ops::RangeInclusive<usize>| {
        let place = name.rfind('-')?;
        let end = name.get(place + 1..)?;
        let made = lengths.contains(&end.len()) && end.chars().all(|c| SAFE.contains(c));
        made.then_some(place)
    };
    let cut = |name| strip(name, 5..=5).and_then(|place| pod.get(..place)).unwrap_or(name);
    let whole = cut(pod);
    if whole.len() == pod.len() {
        return pod;
    }
    strip(whole, 8..=10).and_then(|place| whole.get(..place)).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_cloud_are_told_apart() {
        let gke = [
            "gke-prod-eu-default-pool-8f3a2b1c-x7kq",
            "gke-prod-eu-default-pool-8f3a2b1c-9fzt",
            "gke-prod-eu-spot-pool-11ac90de-b2xl",
        ];
        let shared = Shared::of(gke);
        assert_eq!(shared.parts(gke[0]), ["gke-prod-eu-", "default-pool-8f3a2b1c", "-x7kq", ""]);
        let eks = ["ip-10-0-100-200.ec2.internal", "ip-10-0-101-17.ec2.internal"];
        let shared = Shared::of(eks);
        assert_eq!(shared.parts(eks[1]), ["ip-10-0-", "101", "-17", ".ec2.internal"]);
        let zones = ["europe-west1-b", "europe-west1-c", "europe-west1-d-longer"];
        assert_eq!(Shared::of(zones).parts(zones[2]), ["europe-west1-", "d", "-longer", ""]);
    }

    #[test]
    fn names_that_share_nothing_or_are_short_stay_whole() {
        assert_eq!(
            Shared::of(["worker-1", "worker-2"]).parts("worker-1"),
            ["", "worker-1", "", ""]
        );
        assert_eq!(Shared::of([]), Shared::default());
        assert_eq!(Shared::of(["a-single-node-of-its-own"]), Shared::default());
        // One name is the beginning of another.
        assert_eq!(Shared::of(["a-node.b", "a-node.b"]), Shared::default());
        let pod = "checkout-5b8f7d9c4-k8n2s";
        assert_eq!(Shared::default().parts(pod), ["", "checkout-5b8f7d9c4", "-k8n2s", ""]);
        let odd = "ünïcödé-ñames-ärë-nöt-cüt-ïnsïdë";
        assert_eq!(Shared { prefix: 1, suffix: 1 }.parts(odd).concat(), odd);
    }

    #[test]
    fn a_pod_is_called_as_its_workload() {
        for (pod, workload) in [
            ("web-7d4b9c6f5-x2x8p", "web"),
            ("report-28930120-vq7x4", "report-28930120"),
            ("search-1", "search-1"),
            ("node-exporter-k8n2s", "node-exporter"),
            ("web", "web"),
        ] {
            assert_eq!(without_suffixes(pod), workload);
        }
    }
}
