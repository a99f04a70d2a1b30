//! What claims and their volumes say of a node.

use serde_json::Value;

use super::{Rejection, World, ZONE, amount, rejection};
use crate::models::{expression, is_terminating, label, list, name, text};

fn is_bound(claim: &Value) -> bool {
    text(claim, "/status/phase") == "Bound"
}

/// Whether a volume can be reached from a node.
fn reaches(volume: &Value, node: &Value) -> bool {
    let Some(required) = volume.pointer("/spec/nodeAffinity/required") else { return true };
    list(required, "/nodeSelectorTerms")
        .iter()
        .any(|term| list(term, "/matchExpressions").iter().all(|it| expression(it, node)))
}

impl World {
    /// The claims of a pod, in the order of its volumes.
    fn claims<'a>(&self, pod: &'a Value) -> Vec<&'a str> {
        let volumes = list(pod, "/spec/volumes").iter();
        let names = volumes.map(|volume| text(volume, "/persistentVolumeClaim/claimName"));
        names.filter(|name| self.storage.is_some() && !name.is_empty()).collect()
    }

    fn claim(&self, wanted: &str) -> Option<&Value> {
        self.storage.as_ref()?.claims.iter().find(|claim| name(claim) == wanted)
    }

    fn class(&self, claim: &Value) -> Option<&Value> {
        let wanted = text(claim, "/spec/storageClassName");
        self.storage.as_ref()?.classes.iter().find(|class| name(class) == wanted)
    }

    /// The volumes that the claims of a pod are bound to.
    fn bound(&self, pod: &Value) -> Vec<&Value> {
        let claims = self.claims(pod).into_iter().filter_map(|name| self.claim(name));
        let names = claims.filter(|claim| is_bound(claim)).map(|it| text(it, "/spec/volumeName"));
        let all = self.storage.iter().flat_map(|storage| &storage.volumes);
        names.filter_map(|wanted| all.clone().find(|volume| name(volume) == wanted)).collect()
    }

    /// The claims of a pod that are bound once it has a node.
    fn waiting(&self, pod: &Value) -> Vec<&Value> {
        let claims = self.claims(pod).into_iter().filter_map(|name| self.claim(name));
        let waits = |claim: &&Value| {
            let class = self.class(claim);
            let mode = class.map_or("", |class| text(class, "/volumeBindingMode"));
            mode == "WaitForFirstConsumer" && text(claim, "/spec/volumeName").is_empty()
        };
        claims.filter(|claim| !is_bound(claim)).filter(waits).collect()
    }

    /// Why claims keep a pod off all nodes.
    pub(super) fn claims_refuse(&self, pod: &Value) -> Option<String> {
        for name in self.claims(pod) {
            let Some(claim) = self.claim(name) else {
                return Some(format!("persistentvolumeclaim \"{name}\" not found"));
            };
            if is_terminating(claim) {
                return Some(format!("persistentvolumeclaim \"{name}\" is being deleted"));
            }
        }
        let waiting = self.waiting(pod);
        let lost = |name: &&str| {
            let claim = self.claim(name);
            claim.is_some_and(|claim| !is_bound(claim) && !waiting.contains(&claim))
        };
        let reason = "pod has unbound immediate PersistentVolumeClaims";
        self.claims(pod).iter().any(lost).then(|| reason.to_owned())
    }

    pub(super) fn claims_for_one_pod(&self, pod: &Value, _: &Value) -> Option<Rejection> {
        let for_one = |claim: &&str| {
            let claim = self.claim(claim).map_or(&[][..], |claim| list(claim, "/spec/accessModes"));
            claim.iter().any(|mode| mode == "ReadWriteOncePod")
        };
        let taken = |claim: &str| {
            let mut others = self.placed().filter(|(other, _)| name(other) != name(pod));
            others.any(|(other, _)| self.claims(other).contains(&claim))
        };
        if self.minor < 27 || !self.claims(pod).into_iter().filter(for_one).any(taken) {
            return None;
        }
        let reason = "node has pod using PersistentVolumeClaim with the same name and \
                      ReadWriteOncePod access mode";
        rejection(reason, false)
    }

    pub(super) fn volumes(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let mut all = Rejection { reasons: Vec::new(), unresolvable: true };
        if !self.bound(pod).iter().all(|volume| reaches(volume, node)) {
            all.reasons.push(match self.minor {
                ..=32 => "node(s) had volume node affinity conflict".to_owned(),
                _ => "node(s) didn't match PersistentVolume's node affinity".to_owned(),
            });
        }
        if !self.can_have(&self.waiting(pod), node) {
            let reason = "node(s) didn't find available persistent volumes to bind";
            all.reasons.push(reason.to_owned());
        }
        (!all.reasons.is_empty()).then_some(all)
    }

    /// Whether each claim can have a volume that is there, or one that is made on the node. The
    /// smallest requests choose first, and each the smallest volume that will do.
    fn can_have(&self, claims: &[&Value], node: &Value) -> bool {
        let Some(storage) = &self.storage else { return true };
        let size = |object: &Value, path: &str| amount("storage", object.pointer(path));
        let asks = |claim: &Value| size(claim, "/spec/resources/requests/storage");
        let has = |volume: &Value| size(volume, "/spec/capacity/storage");
        let mut claims = claims.to_vec();
        claims.sort_by_key(|claim| asks(claim));
        let mut chosen: Vec<&str> = Vec::new();
        claims.into_iter().all(|claim| {
            let kept_for = |volume: &Value| text(volume, "/spec/claimRef/name").to_owned();
            let modes = list(claim, "/spec/accessModes");
            let may = |volume: &&Value| {
                text(volume, "/status/phase") != "Released"
                    && !is_terminating(volume)
                    && (kept_for(volume).is_empty() || kept_for(volume) == name(claim))
                    && text(volume, "/spec/storageClassName")
                        == text(claim, "/spec/storageClassName")
                    && modes.iter().all(|it| list(volume, "/spec/accessModes").contains(it))
                    && has(volume) >= asks(claim)
                    && !chosen.contains(&name(volume))
                    && reaches(volume, node)
            };
            if let Some(volume) = storage.volumes.iter().filter(may).min_by_key(|it| has(it)) {
                chosen.push(name(volume));
                return true;
            }
            self.class(claim).is_some_and(|class| {
                let made_by = text(class, "/provisioner");
                let places = list(class, "/allowedTopologies");
                let here = |term: &Value| {
                    list(term, "/matchLabelExpressions").iter().all(|it| {
                        let at = label(node, text(it, "/key"));
                        list(it, "/values").iter().any(|value| value.as_str() == at)
                    })
                };
                made_by != "kubernetes.io/no-provisioner"
                    && (places.is_empty() || places.iter().any(here))
            })
        })
    }

    pub(super) fn zones_of_volumes(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let zone = label(node, ZONE)?;
        let elsewhere = |volume: &&Value| {
            let zones = label(volume, ZONE);
            zones.is_some_and(|zones| zones.split("__").all(|one| one != zone))
        };
        if !self.bound(pod).iter().any(elsewhere) {
            return None;
        }
        rejection("node(s) had no available volume zone", true)
    }
}
