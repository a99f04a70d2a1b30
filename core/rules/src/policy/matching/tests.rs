use alloc::string::ToString;
use alloc::{vec, vec::Vec};

use super::*;
use crate::api::TaintEffect;

/// `key=value:effect` and its parts left out.
fn taint(text: &str) -> Taint {
    let (rest, effect) = text.split_once(':').unwrap();
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    Taint::new(key, value, effect.into())
}

fn taints(texts: &[&str]) -> Vec<Taint> {
    texts.iter().map(|text| taint(text)).collect()
}

fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
    Toleration {
        key: key.into(),
        operator: operator.into(),
        value: value.into(),
        effect: effect.into(),
        toleration_seconds: None,
    }
}

/// A toleration with operator `Exists` for `NoExecute`.
fn exists(key: &str, seconds: impl Into<Option<i64>>) -> Toleration {
    let toleration_seconds = seconds.into();
    Toleration { toleration_seconds, ..toleration(key, "Exists", "", "NoExecute") }
}

// Upstream: TestTolerationToleratesTaint.
#[test]
fn toleration_tolerates_taint() {
    for (name, toleration, taint, expected) in [
        (
            "toleration and taint have the same key and effect, and operator is Exists, and taint \
             has no value, expect tolerated",
            toleration("foo", "Exists", "", "NoSchedule"),
            taint("foo:NoSchedule"),
            true,
        ),
        (
            "toleration and taint have the same key and effect, and operator is Exists, and taint \
             has some value, expect tolerated",
            toleration("foo", "Exists", "", "NoSchedule"),
            taint("foo=bar:NoSchedule"),
            true,
        ),
        (
            "toleration and taint have the same effect, toleration has empty key and operator is \
             Exists, means match all taints, expect tolerated",
            toleration("", "Exists", "", "NoSchedule"),
            taint("foo=bar:NoSchedule"),
            true,
        ),
        (
            "toleration and taint have the same key, effect and value, and operator is Equal, \
             expect tolerated",
            toleration("foo", "Equal", "bar", "NoSchedule"),
            taint("foo=bar:NoSchedule"),
            true,
        ),
        (
            "toleration and taint have the same key and effect, but different values, and operator \
             is Equal, expect not tolerated",
            toleration("foo", "Equal", "value1", "NoSchedule"),
            taint("foo=value2:NoSchedule"),
            false,
        ),
        (
            "toleration and taint have the same key and value, but different effects, and operator \
             is Equal, expect not tolerated",
            toleration("foo", "Equal", "bar", "NoSchedule"),
            taint("foo=bar:NoExecute"),
            false,
        ),
    ] {
        assert_eq!(tolerates(&toleration, &taint, false), expected, "{name}");
    }
}

/// The worked examples M1 to M15, with the first test that fails.
#[test]
fn worked_examples_of_the_predicate() {
    use Mismatch::*;
    for (id, taint_text, key, operator, value, effect, gate, expected) in [
        ("M1", "foo=bar:NoSchedule", "foo", "Exists", "", "NoSchedule", false, Ok(())),
        ("M2", "foo=bar:NoSchedule", "foo", "Equal", "bar", "NoSchedule", false, Ok(())),
        ("M3", "foo=bar:NoSchedule", "foo", "Equal", "other", "NoSchedule", false, Err(Value)),
        ("M4", "foo=bar:NoSchedule", "foo", "Equal", "bar", "NoExecute", false, Err(Effect)),
        ("M5", "foo=bar:NoSchedule", "foo", "Equal", "bar", "", false, Ok(())),
        ("M6", "foo:NoExecute", "", "Exists", "", "", false, Ok(())),
        ("M7", "foo:NoExecute", "", "Exists", "", "NoSchedule", false, Err(Effect)),
        ("M8", "foo:NoExecute", "", "", "", "", false, Ok(())),
        ("M9", "foo=x:NoExecute", "", "", "", "", false, Err(Value)),
        ("M10", "foo=x:NoExecute", "foo", "", "x", "", false, Ok(())),
        ("M11 off", "foo=5:NoSchedule", "foo", "Gt", "3", "", false, Err(ComparisonOperatorsOff)),
        ("M11 on", "foo=5:NoSchedule", "foo", "Gt", "3", "", true, Ok(())),
        ("M12", "foo=5:NoSchedule", "foo", "Lt", "5", "", true, Err(NotLess)),
        ("M13", "foo=05:NoSchedule", "foo", "Gt", "3", "", true, Err(TaintNotInteger)),
        (
            "M14",
            "foo=9223372036854775808:NoSchedule",
            "foo",
            "Gt",
            "3",
            "",
            true,
            Err(TaintNotInteger),
        ),
        ("M15", "foo=5:NoSchedule", "foo", "Lt", "-0", "", true, Err(TolerationNotInteger)),
        ("key", "foo:NoSchedule", "bar", "Exists", "", "", true, Err(Key)),
        ("operator", "foo:NoSchedule", "foo", "exists", "", "", true, Err(UnknownOperator)),
        ("strict", "foo=5:NoSchedule", "foo", "Gt", "5", "", true, Err(NotGreater)),
    ] {
        let toleration = toleration(key, operator, value, effect);
        assert_eq!(check(&toleration, &taint(taint_text), gate), expected, "{id}");
    }
}

#[test]
fn numbers_are_canonical_decimal_integers_of_64_bits() {
    for (text, number) in [
        ("0", 0),
        ("7", 7),
        ("-12", -12),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
    ] {
        assert_eq!(parse_canonical(text), Some(number), "{text}");
    }
    for bad in
        ["", "-", "-0", "00", "+5", "007", "0550", "95.5", " 5", "5 ", "5a", "9223372036854775808"]
    {
        assert_eq!(parse_canonical(bad), None, "{bad:?}");
    }
}

/// Every pair of odd and plain values against a rule put another way: a number is canonical if it
/// is printed as it was read.
#[test]
fn numbers_are_compared_when_both_are_canonical() {
    let number = |text: &str| text.parse::<i64>().ok().filter(|n| n.to_string() == text);
    let values = [
        "",
        "-",
        "0",
        "-0",
        "+0",
        "00",
        "1",
        "-1",
        "+5",
        "5",
        "05",
        "6",
        "10",
        "9",
        "95.5",
        "1e3",
        " 5",
        "5 ",
        "5\n",
        "0x5",
        "a",
        "٥",
        "--5",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
    ];
    for bound in values {
        for value in values {
            let taint = Taint::new("k", value, TaintEffect::NoExecute);
            let both = number(value).zip(number(bound));
            let lt = toleration("k", "Lt", bound, "NoExecute");
            let gt = toleration("", "Gt", bound, "");
            assert_eq!(
                tolerates(&lt, &taint, true),
                both.is_some_and(|(v, b)| v < b),
                "{lt} {taint}"
            );
            assert_eq!(
                tolerates(&gt, &taint, true),
                both.is_some_and(|(v, b)| v > b),
                "{gt} {taint}"
            );
            assert!(!tolerates(&lt, &taint, false) && !tolerates(&gt, &taint, false));
        }
    }
}

// Upstream: TestTolerationsTolerateTaintsWithFilter.
#[test]
fn first_untolerated_taint() {
    let all: fn(&Taint) -> bool = |_| true;
    let no_execute: fn(&Taint) -> bool = Taint::is_no_execute;
    let foo = || vec![toleration("foo", "Exists", "", "NoSchedule")];
    for (name, tolerations, taints, filter, untolerated) in [
        ("empty tolerations tolerate empty taints", vec![], taints(&[]), all, None),
        ("non-empty tolerations tolerate empty taints", foo(), taints(&[]), all, None),
        (
            "tolerations match all taints, expect tolerated",
            foo(),
            taints(&["foo:NoSchedule"]),
            all,
            None,
        ),
        (
            "tolerations don't match, but no taints apply to the filter, expect tolerated",
            foo(),
            taints(&["bar:NoSchedule"]),
            no_execute,
            None,
        ),
        (
            "no filterFunc indicated, means all taints apply to the filter, tolerations don't \
             match taints, expect untolerated",
            foo(),
            taints(&["bar:NoSchedule"]),
            all,
            Some(0),
        ),
        (
            "tolerations match taints, expect tolerated",
            vec![exists("foo", None)],
            taints(&["foo:NoExecute", "bar:NoSchedule"]),
            no_execute,
            None,
        ),
        (
            "no tolerations, the first taint",
            vec![],
            taints(&["a:NoExecute", "b:NoExecute"]),
            all,
            Some(0),
        ),
    ] {
        let found = find_matching_untolerated_taint(&taints, &tolerations, false, filter);
        assert_eq!(found, untolerated.map(|index: usize| &taints[index]), "{name}");
    }
}

#[test]
fn the_first_toleration_in_the_pods_order_is_used() {
    for (id, texts, tolerations, all_tolerated, used, seconds) in [
        (
            "M16",
            taints(&["a:NoExecute", "b:NoExecute"]),
            vec![exists("", 300), exists("a", None)],
            true,
            vec![0, 0],
            300,
        ),
        (
            "M17",
            taints(&["a:NoExecute", "b:NoExecute"]),
            vec![exists("a", None), exists("", 300)],
            true,
            vec![0, 1],
            300,
        ),
        (
            "M18",
            taints(&["a:NoExecute"]),
            vec![exists("a", 300), exists("a", None)],
            true,
            vec![0],
            300,
        ),
        (
            "M21",
            taints(&["k:NoSchedule", "k:NoExecute"]),
            vec![toleration("k", "Exists", "", "NoSchedule")],
            false,
            vec![],
            0,
        ),
        ("no taints", vec![], vec![], true, vec![], 0),
        ("no tolerations", taints(&["a:NoExecute"]), vec![], false, vec![], 0),
    ] {
        let matching = matching_tolerations(&texts, &tolerations, false);
        assert_eq!(matching, MatchingTolerations { all_tolerated, used }, "{id}");
        let nanos = min_toleration_time(matching.used.iter().map(|index| &tolerations[*index]));
        assert_eq!(nanos, seconds * 1_000_000_000, "{id}");
    }
}

// Upstream: TestGetMinTolerationTime, and the worked examples M19 and M20.
#[test]
fn minimum_toleration_time() {
    for (id, seconds, nanos) in [
        ("M19", vec![], 0),
        ("M19", vec![None], -1),
        ("M19", vec![Some(1), Some(2)], 1_000_000_000),
        ("M19", vec![Some(1), None], 1_000_000_000),
        ("M19", vec![None, Some(1)], 1_000_000_000),
        ("M20", vec![Some(5), Some(-3), Some(1)], 0),
        ("M20", vec![Some(0)], 0),
        ("M20", vec![Some(9_223_372_036)], 9_223_372_036_000_000_000),
        ("M20", vec![Some(9_223_372_037)], -9_223_372_036_709_551_616),
        ("M20", vec![Some(18_446_744_073)], -709_551_616),
        ("M20", vec![Some(18_446_744_074)], 290_448_384),
        ("M20", vec![Some(i64::MAX)], -1),
        ("M20", vec![Some(i64::MAX - 1)], -2_000_000_000),
        ("no time after an overflow", vec![Some(1 << 55)], 0),
    ] {
        let tolerations: Vec<_> = seconds.iter().map(|seconds| exists("k", *seconds)).collect();
        assert_eq!(min_toleration_time(&tolerations), nanos, "{id} {seconds:?}");
    }
}

#[test]
fn m22_the_scheduler_and_eviction_look_at_different_taints() {
    let taints =
        taints(&["key1=value1:NoSchedule", "key1=value1:NoExecute", "key2=value2:NoSchedule"]);
    let tolerations = [
        toleration("key1", "Equal", "value1", "NoSchedule"),
        toleration("key1", "Equal", "value1", "NoExecute"),
    ];
    let filter = |taint: &Taint| taint.effect != TaintEffect::PreferNoSchedule;
    let untolerated = find_matching_untolerated_taint(&taints, &tolerations, false, filter);
    assert_eq!(untolerated, Some(&taints[2]));
    let explanation = explain(&taints, &tolerations, false);
    assert_eq!(explanation.verdict, Verdict::ToleratedForever { overflowed: None });
    let consequences: Vec<_> = explanation.taints.iter().map(|taint| taint.consequence).collect();
    assert_eq!(
        consequences,
        [Consequence::Tolerated, Consequence::Tolerated, Consequence::NotScheduled]
    );
}

#[test]
fn verdicts_and_their_sentences() {
    for (taints, tolerations, evicted_after, sentence) in [
        (taints(&["a:NoSchedule"]), vec![], None, "stays: the node has no `NoExecute` taint"),
        (
            taints(&["a:NoSchedule", "a:NoExecute"]),
            vec![exists("a", None)],
            None,
            "stays: every `NoExecute` taint is tolerated forever",
        ),
        (
            taints(&["a:NoExecute", "b:NoExecute", "c:NoExecute"]),
            vec![exists("c", 60), exists("b", 60), exists("a", 300)],
            Some(60_000_000_000),
            "evicted after 1m0s: `tolerations[1].tolerationSeconds: 60` is the shortest in use",
        ),
        (
            taints(&["a:NoExecute", "k=v:NoExecute"]),
            vec![exists("a", None), toleration("k", "Equal", "w", "")],
            Some(0),
            "evicted at once: no toleration matches the taint `k=v:NoExecute`",
        ),
        (
            taints(&["a:NoExecute", "b:NoExecute", "c:NoExecute"]),
            vec![exists("a", 7), exists("b", -1), exists("c", -5)],
            Some(0),
            "evicted at once: `tolerations[1].tolerationSeconds: -1` leaves no time",
        ),
        (
            taints(&["a:NoExecute"]),
            vec![exists("a", 9_223_372_037)],
            None,
            "stays: `tolerations[0].tolerationSeconds: 9223372037` overflows to a negative time, \
             which counts as forever",
        ),
        (
            taints(&["a:NoExecute"]),
            vec![exists("a", 18_446_744_074)],
            Some(290_448_384),
            "evicted after 290.448384ms: `tolerations[0].tolerationSeconds: 18446744074` overflows",
        ),
        (
            taints(&["a:NoExecute"]),
            vec![exists("a", i64::MAX)],
            None,
            "stays: every `NoExecute` taint is tolerated forever",
        ),
    ] {
        let explanation = explain(&taints, &tolerations, false);
        assert_eq!(explanation.to_string(), sentence);
        let nanos = explanation.verdict.evicted_after().map(|after| after.as_nanos());
        assert_eq!(nanos, evicted_after, "{sentence}");
        assert_eq!(explanation.verdict.is_evicted(), evicted_after.is_some(), "{sentence}");
    }
}

#[test]
fn every_outcome_has_its_sentence() {
    let node = taints(&["k=5:NoExecute"]);
    let tolerations = [
        toleration("k", "Exists", "", "NoSchedule"),
        toleration("j", "Exists", "", ""),
        toleration("k", "Equal", "", ""),
        toleration("k", "In", "5", ""),
        toleration("k", "Lt", "05", ""),
        toleration("k", "Lt", "5", ""),
        toleration("k", "Gt", "6", ""),
        exists("k", 10),
        Toleration::default(),
        toleration("k", "Gt", "4", ""),
    ];
    let explanation = explain(&node, &tolerations, true);
    assert_eq!(explanation.taints[0].answered_by, Some(7));
    assert_eq!(explanation.taints[0].consequence, Consequence::ToleratedForAWhile);
    let sentences: Vec<_> = (0..tolerations.len())
        .map(|index| explanation.outcome_sentence(0, index).unwrap())
        .collect();
    assert_eq!(
        sentences,
        [
            "`tolerations[0]` (`k:NoSchedule op=Exists`): \
             effect differs: it has `NoSchedule`, the taint has `NoExecute`",
            "`tolerations[1]` (`j op=Exists`): key differs: it has `j`, the taint has `k`",
            "`tolerations[2]` (`k`): value differs: it has `\"\"`, the taint has `5`",
            "`tolerations[3]` (`k=5`): operator `In` is unknown; `Equal` and `Exists` are valid",
            "`tolerations[4]` (`k=05 op=Lt`): \
             its value `05` is not a decimal integer in canonical form that fits 64 bits",
            "`tolerations[5]` (`k=5 op=Lt`): the taint's `5` is not less than `5`",
            "`tolerations[6]` (`k=6 op=Gt`): the taint's `5` is not greater than `6`",
            "`tolerations[7]` (`k:NoExecute op=Exists for 10s`): \
             tolerates the taint, and is the first to do so",
            "`tolerations[8]`: value differs: it has `\"\"`, the taint has `5`",
            "`tolerations[9]` (`k=4 op=Gt`): tolerates the taint too, \
             but `tolerations[7]` comes first",
        ]
    );
    assert_eq!(explanation.outcome_sentence(0, 10), None);
    let off = explain(&node, &tolerations, false);
    assert_eq!(
        off.taints[0].outcomes[5].to_string(),
        "operator `Lt` needs the feature gate `TaintTolerationComparisonOperators`, which is off"
    );
    let odd = explain(&taints(&["k=5.5:NoExecute"]), &tolerations, true);
    assert_eq!(
        odd.taints[0].outcomes[5].to_string(),
        "the taint's value `5.5` is not a decimal integer in canonical form that fits 64 bits"
    );
}

#[test]
fn explanations_are_camel_case_json() {
    let explanation =
        explain(&taints(&["a=x:NoExecute"]), &[toleration("a", "", "", ""), exists("a", 5)], false);
    assert_eq!(
        serde_json::to_value(&explanation).unwrap(),
        serde_json::json!({
            "tolerations": [
                { "key": "a" },
                { "key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5 }
            ],
            "taints": [{
                "taint": { "key": "a", "value": "x", "effect": "NoExecute" },
                "noExecute": true,
                "tolerationIndex": 1,
                "consequence": "toleratedForAWhile",
                "outcomes": [
                    {
                        "type": "failed", "test": "value", "tolerationValue": "", "taintValue": "x"
                    },
                    { "type": "used" }
                ]
            }],
            "verdict": {
                "type": "evictedAfter", "afterMilliseconds": 5000.0, "tolerationIndex": 1,
                "overflowed": false
            }
        })
    );
}
