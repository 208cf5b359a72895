//! The slot mapper: which host each rank goes to. A pure function of hosts and request.
//!
//! A slot is the right to start one process on a host; a cap is what a host takes at most, also when it is
//! oversubscribed. By slot: hosts are filled in order; what remains is, with oversubscription, spread evenly,
//! the first hosts taking one more, and what a capped host cannot take goes to the others; ranks are
//! consecutive in host order. By node: ranks are dealt round-robin over free slots and then, with
//! oversubscription, over everything below its cap. Per node: so many on each host, in host order.
//!
//! The programs of an MPMD command are mapped one after the other onto what the earlier ones left.
//! Known gaps: objects below the node (cores, caches, packages), rankfiles, sequential mapping.
use oxmpi_transport_shm::layout::MAX_RANKS;
use std::fmt;

/// A host as the mapper sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub slots: usize,
    /// The most ranks it takes, oversubscribed or not.
    pub cap: Option<usize>,
    /// Where `slots` comes from, for a reader: "hosts.txt line 3", "2 cores in the affinity mask".
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Slot,
    Node,
    PerNode(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Ranks of each program; None: as many as the policy gives.
    pub programs: &'a [Option<usize>],
    pub policy: Policy,
    pub oversubscribe: bool,
}

/// Where one rank goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub host: usize,
    pub program: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// By rank.
    pub places: Vec<Place>,
}

impl Map {
    /// How many ranks each of `hosts` hosts gets.
    pub fn counts(&self, hosts: usize) -> Vec<usize> {
        (0..hosts).map(|h| self.places.iter().filter(|p| p.host == h).count()).collect()
    }
}

/// Why a request has no map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Slots,
    Caps,
    /// More than [`MAX_RANKS`] for each host.
    TooMany,
    /// More ranks than so many per node give.
    PerNode(usize),
    NoRanks,
    NoHosts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub why: Why,
    /// All ranks asked for.
    pub wanted: usize,
    /// The hosts, each with the slots in use when it failed.
    pub hosts: Vec<(Host, usize)>,
}

/// Maps the job or says why it cannot be.
pub fn map(hosts: &[Host], request: &Request<'_>) -> Result<Map, Refusal> {
    let mut used = vec![0; hosts.len()];
    let free: usize = hosts.iter().map(|h| h.slots).sum();
    let default = match request.policy {
        Policy::PerNode(n) => n.saturating_mul(hosts.len()),
        Policy::Slot | Policy::Node => free,
    };
    let counts: Vec<usize> = request.programs.iter().map(|n| n.unwrap_or(default)).collect();
    let wanted = counts.iter().fold(0, |a: usize, n| a.saturating_add(*n));
    let refused = |why, used: &[usize]| {
        let hosts = hosts.iter().cloned().zip(used.iter().copied()).collect();
        Err(Refusal { why, wanted, hosts })
    };
    if hosts.is_empty() {
        return refused(Why::NoHosts, &used);
    }
    if wanted == 0 {
        return refused(Why::NoRanks, &used);
    }
    // Checked first, so that a request for billions of ranks is refused without being tried.
    let caps = hosts.iter().fold(0, |a: usize, h| a.saturating_add(h.cap.unwrap_or(usize::MAX)));
    if !request.oversubscribe && wanted > free {
        return refused(Why::Slots, &used);
    }
    if wanted > caps {
        return refused(Why::Caps, &used);
    }
    if wanted > MAX_RANKS.saturating_mul(hosts.len()) {
        return refused(Why::TooMany, &used);
    }
    let mut places = Vec::new();
    for (program, count) in counts.into_iter().enumerate() {
        let chosen = match request.policy {
            Policy::Slot => by_slot(hosts, &mut used, count, request.oversubscribe),
            Policy::Node => by_node(hosts, &mut used, count, request.oversubscribe),
            Policy::PerNode(each) => per_node(hosts, &mut used, count, each, request.oversubscribe),
        };
        match chosen {
            Ok(chosen) => places.extend(chosen.into_iter().map(|host| Place { host, program })),
            Err(why) => return refused(why, &used),
        }
    }
    Ok(Map { places })
}

fn room(host: &Host, used: usize) -> usize {
    host.cap.unwrap_or(usize::MAX).saturating_sub(used)
}

/// Free slots, which a cap below the slots cuts.
fn free(host: &Host, used: usize) -> usize {
    host.slots.saturating_sub(used).min(room(host, used))
}

fn by_slot(hosts: &[Host], used: &mut [usize], count: usize, oversubscribe: bool) -> Result<Vec<usize>, Why> {
    let mut take = vec![0; hosts.len()];
    let mut rest = count;
    for (i, host) in hosts.iter().enumerate() {
        take[i] = free(host, used[i]).min(rest);
        rest -= take[i];
    }
    if rest > 0 && !oversubscribe {
        return Err(Why::Slots);
    }
    while rest > 0 {
        let open: Vec<usize> = (0..hosts.len()).filter(|i| room(&hosts[*i], used[*i] + take[*i]) > 0).collect();
        if open.is_empty() {
            return Err(Why::Caps);
        }
        let (share, more) = (rest / open.len(), rest % open.len());
        for (nth, i) in open.into_iter().enumerate() {
            let n = (share + usize::from(nth < more)).min(room(&hosts[i], used[i] + take[i]));
            take[i] += n;
            rest -= n;
        }
    }
    Ok(consecutive(used, &take))
}

fn consecutive(used: &mut [usize], take: &[usize]) -> Vec<usize> {
    used.iter_mut().zip(take).for_each(|(u, t)| *u += t);
    take.iter().enumerate().flat_map(|(host, n)| std::iter::repeat_n(host, *n)).collect()
}

fn by_node(hosts: &[Host], used: &mut [usize], count: usize, oversubscribe: bool) -> Result<Vec<usize>, Why> {
    let mut chosen = Vec::new();
    let mut deal = |used: &mut [usize], takes: &dyn Fn(&Host, usize) -> bool| {
        loop {
            let before = chosen.len();
            for (i, host) in hosts.iter().enumerate() {
                if chosen.len() < count && takes(host, used[i]) {
                    chosen.push(i);
                    used[i] += 1;
                }
            }
            if chosen.len() == count || chosen.len() == before {
                return chosen.len();
            }
        }
    };
    let mut dealt = deal(used, &|h, u| free(h, u) > 0);
    if dealt < count && oversubscribe {
        dealt = deal(used, &|h, u| room(h, u) > 0);
    }
    match dealt == count {
        true => Ok(chosen),
        false => Err(if oversubscribe { Why::Caps } else { Why::Slots }),
    }
}

fn per_node(
    hosts: &[Host],
    used: &mut [usize],
    count: usize,
    each: usize,
    oversubscribe: bool,
) -> Result<Vec<usize>, Why> {
    let mut take = vec![0; hosts.len()];
    let mut rest = count;
    for (i, host) in hosts.iter().enumerate() {
        take[i] = each.min(rest);
        rest -= take[i];
        if take[i] > room(host, used[i]) {
            return Err(Why::Caps);
        }
        if take[i] > free(host, used[i]) && !oversubscribe {
            return Err(Why::Slots);
        }
    }
    if rest > 0 {
        return Err(Why::PerNode(each));
    }
    Ok(consecutive(used, &take))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots: usize = self.hosts.iter().map(|(h, _)| h.slots).sum();
        let wanted = self.wanted;
        match &self.why {
            Why::Slots => writeln!(
                f,
                "There are not enough slots available: {wanted} ranks were asked for, the job's hosts have {slots} slots."
            )?,
            Why::Caps => writeln!(
                f,
                "There are not enough slots available: {wanted} ranks were asked for, more than the hosts' caps allow."
            )?,
            Why::PerNode(each) => writeln!(
                f,
                "There are not enough slots available: {wanted} ranks were asked for, but {each} on each of {} host(s) make {}.",
                self.hosts.len(),
                each.saturating_mul(self.hosts.len())
            )?,
            Why::TooMany => {
                return write!(
                    f,
                    "{wanted} ranks were asked for; a host takes at most {MAX_RANKS}, however many slots it has."
                );
            }
            Why::NoRanks => return write!(f, "No rank was asked for: -n must be at least 1."),
            Why::NoHosts => return write!(f, "No host is left to run on."),
        }
        let name = self.hosts.iter().map(|(h, _)| h.name.len()).max().unwrap_or(0).max(4);
        writeln!(f, "  {:name$}  {:>5}  {:>5}  {:>5}  slots come from", "host", "slots", "cap", "used")?;
        for (h, used) in &self.hosts {
            let cap = h.cap.map_or_else(|| "none".into(), |c| c.to_string());
            writeln!(f, "  {:name$}  {:>5}  {cap:>5}  {used:>5}  {}", h.name, h.slots, h.source)?;
        }
        self.way_out(f, slots)
    }
}

impl Refusal {
    fn way_out(&self, f: &mut fmt::Formatter<'_>, slots: usize) -> fmt::Result {
        let caps = self.hosts.iter().try_fold(0usize, |a, (h, _)| a.checked_add(h.cap?));
        let beyond_caps = caps.is_some_and(|c| self.wanted > c);
        write!(f, "To run it: ")?;
        if let Why::PerNode(_) = self.why {
            let each = self.wanted.div_ceil(self.hosts.len().max(1));
            return write!(f, "--map-by ppr:{each}:node, or fewer ranks with -n.");
        }
        if beyond_caps {
            return write!(
                f,
                "raise max_slots in the hostfile, or ask for at most {} ranks with -n.",
                caps.unwrap_or_default()
            );
        }
        write!(f, "--oversubscribe (more ranks than slots)")?;
        if let [(host, _)] = self.hosts.as_slice() {
            write!(f, ", --host {}:{} (you say how many slots there are)", host.name, self.wanted)?;
        }
        write!(f, ", or at most {slots} ranks with -n.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(slots: &[(usize, Option<usize>)]) -> Vec<Host> {
        slots
            .iter()
            .enumerate()
            .map(|(i, (slots, cap))| Host {
                name: format!("node{i}"),
                slots: *slots,
                cap: *cap,
                source: format!("hosts.txt line {}", i + 1),
            })
            .collect()
    }

    fn h() -> Vec<Host> {
        hosts(&[(2, Some(20)), (2, Some(20))])
    }

    fn run(hosts: &[Host], policy: Policy, oversubscribe: bool, n: Option<usize>) -> Result<Map, Refusal> {
        map(hosts, &Request { programs: &[n], policy, oversubscribe })
    }

    fn counts(hosts: &[Host], policy: Policy, over: bool, n: usize) -> Vec<usize> {
        run(hosts, policy, over, Some(n)).unwrap().counts(hosts.len())
    }

    fn hosts_of(map: &Map) -> Vec<usize> {
        map.places.iter().map(|p| p.host).collect()
    }

    use Policy::{Node, PerNode, Slot};

    #[test]
    fn golden_two_hosts() {
        assert_eq!(hosts_of(&run(&h(), Slot, false, Some(4)).unwrap()), [0, 0, 1, 1]);
        assert_eq!(hosts_of(&run(&h(), Node, false, Some(4)).unwrap()), [0, 1, 0, 1]);
        assert_eq!(hosts_of(&run(&h(), Slot, false, None).unwrap()), [0, 0, 1, 1]);
        assert_eq!(run(&h(), Slot, false, Some(8)).unwrap_err().why, Why::Slots);
        assert_eq!(hosts_of(&run(&h(), Slot, true, Some(8)).unwrap()), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(counts(&h(), Slot, true, 7), [4, 3]);
        assert_eq!(counts(&h(), Slot, true, 20), [10, 10]);
        assert_eq!(counts(&h(), Slot, true, 40), [20, 20]);
        assert_eq!(hosts_of(&run(&h(), Node, true, Some(8)).unwrap()), [0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(run(&h(), Slot, true, Some(41)).unwrap_err().why, Why::Caps);
        assert_eq!(run(&h(), Node, true, Some(41)).unwrap_err().why, Why::Caps);
    }

    #[test]
    fn golden_per_node() {
        assert_eq!(run(&h(), PerNode(2), false, None).unwrap().counts(2), [2, 2]);
        assert_eq!(counts(&h(), PerNode(2), false, 4), [2, 2]);
        assert_eq!(run(&h(), PerNode(2), true, Some(8)).unwrap_err().why, Why::PerNode(2));
        assert!(run(&h(), PerNode(2), false, Some(8)).is_err());
        assert_eq!(counts(&h(), PerNode(4), true, 8), [4, 4]);
        assert_eq!(run(&h(), PerNode(4), false, None).unwrap_err().why, Why::Slots);
        assert_eq!(run(&h(), PerNode(21), true, None).unwrap_err().why, Why::Caps);
    }

    #[test]
    fn golden_uneven_slots() {
        let uneven = hosts(&[(1, None), (3, None), (4, None)]);
        assert_eq!(counts(&uneven, Slot, true, 10), [2, 4, 4]);
        assert_eq!(counts(&uneven, Slot, true, 11), [2, 4, 5]);
        assert_eq!(counts(&uneven, Slot, true, 12), [3, 4, 5]);
        assert_eq!(counts(&uneven, Node, false, 8), [1, 3, 4]);
        assert_eq!(hosts_of(&run(&uneven, Node, false, Some(8)).unwrap()), [0, 1, 2, 1, 2, 1, 2, 2]);
    }

    #[test]
    fn golden_caps_hold_when_oversubscribed() {
        assert_eq!(counts(&hosts(&[(2, Some(3)), (2, Some(20))]), Slot, true, 12), [3, 9]);
        assert_eq!(counts(&hosts(&[(2, Some(3)), (2, Some(20))]), Node, true, 12), [3, 9]);
    }

    #[test]
    fn programs_share_the_slots() {
        let m = map(&h(), &Request { programs: &[Some(1), Some(3)], policy: Slot, oversubscribe: false }).unwrap();
        assert_eq!(m.places.iter().map(|p| (p.host, p.program)).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 1), (1, 1)]);
        assert!(map(&h(), &Request { programs: &[Some(3), Some(2)], policy: Slot, oversubscribe: false }).is_err());
    }

    #[test]
    fn nonsense_is_refused_at_once() {
        assert_eq!(run(&h(), Slot, false, Some(0)).unwrap_err().why, Why::NoRanks);
        assert_eq!(run(&[], Slot, false, Some(1)).unwrap_err().why, Why::NoHosts);
        assert_eq!(run(&h(), Slot, true, Some(usize::MAX)).unwrap_err().why, Why::Caps);
        assert_eq!(run(&h(), PerNode(usize::MAX), true, None).unwrap_err().why, Why::Caps);
    }

    #[test]
    fn every_map_keeps_its_promises() {
        for slots in [[1, 1, 1], [3, 0, 2], [5, 1, 1]] {
            for cap in [None, Some(5)] {
                let hs = hosts(&slots.map(|s| (s, cap)));
                for n in 1..=16 {
                    for policy in [Slot, Node] {
                        for over in [false, true] {
                            let fits = n <= if over { cap.map_or(usize::MAX, |c| 3 * c) } else { slots.iter().sum() };
                            let got = run(&hs, policy, over, Some(n));
                            assert_eq!(got.is_ok(), fits, "{slots:?} {cap:?} {n} {policy:?} {over}");
                            let Ok(m) = got else { continue };
                            assert_eq!(m.places.len(), n);
                            for (h, c) in hs.iter().zip(m.counts(3)) {
                                assert!(c <= if over { h.cap.unwrap_or(usize::MAX) } else { h.slots });
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_refusal_shows_every_number_and_the_way_out() {
        let text = run(&h(), Slot, false, Some(8)).unwrap_err().to_string();
        assert_eq!(
            text,
            "There are not enough slots available: 8 ranks were asked for, the job's hosts have 4 slots.\n  \
             host   slots    cap   used  slots come from\n  \
             node0      2     20      0  hosts.txt line 1\n  \
             node1      2     20      0  hosts.txt line 2\n\
             To run it: --oversubscribe (more ranks than slots), or at most 4 ranks with -n."
        );
        let text = run(&h(), Slot, true, Some(41)).unwrap_err().to_string();
        assert!(text.ends_with("raise max_slots in the hostfile, or ask for at most 40 ranks with -n."), "{text}");
        let one = hosts(&[(2, None)]);
        assert!(run(&one, Slot, false, Some(3)).unwrap_err().to_string().contains("--host node0:3"));
    }
}
