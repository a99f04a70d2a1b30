//! Parses settings into thresholds, with the kubelet's own errors.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::Quantity;

use super::golang::{parse_float32, parse_signed_duration};
use super::signal::Signal;
use super::threshold::{Threshold, ThresholdValue};
use super::version::KubeletVersion;

/// Makes thresholds of the settings. Mirrors `ParseThresholdConfig`.
///
/// Where upstream goes through a map, this goes by name.
///
/// # Errors
/// The first one, in the kubelet's words.
pub fn parse_threshold_config(
    version: KubeletVersion,
    enforce_node_allocatable: &[String],
    hard: &BTreeMap<String, String>,
    soft: &BTreeMap<String, String>,
    soft_grace_period: &BTreeMap<String, String>,
    minimum_reclaim: &BTreeMap<String, String>,
) -> Result<Vec<Threshold>, String> {
    let mut thresholds = thresholds(version, hard)?;
    let mut soft = self::thresholds(version, soft)?;
    let grace_periods = grace_periods(version, soft_grace_period)?;
    let min_reclaims = min_reclaims(version, minimum_reclaim)?;
    for threshold in &mut soft {
        let signal = threshold.signal;
        let period = grace_periods.iter().find(|(known, _)| *known == signal);
        let Some((_, period)) = period else {
            return Err(format!(
                "grace period must be specified for the soft eviction threshold {signal}"
            ));
        };
        threshold.grace_period = *period;
    }
    thresholds.append(&mut soft);
    for threshold in &mut thresholds {
        let min_reclaim = min_reclaims.iter().find(|(signal, _)| *signal == threshold.signal);
        threshold.min_reclaim = min_reclaim.map(|(_, value)| value.clone());
    }
    if enforce_node_allocatable.iter().any(|key| key == "pods") && !version.is_qos_era() {
        add_allocatable(&mut thresholds);
    }
    Ok(thresholds)
}

/// Mirrors `addAllocatableThresholds`.
fn add_allocatable(thresholds: &mut Vec<Threshold>) {
    let of_memory =
        |threshold: &&Threshold| threshold.signal == Signal::MemoryAvailable && threshold.is_hard();
    let more: Vec<Threshold> = thresholds
        .iter()
        .filter(of_memory)
        .map(|threshold| Threshold {
            signal: Signal::AllocatableMemoryAvailable,
            ..threshold.clone()
        })
        .collect();
    thresholds.extend(more);
}

/// Mirrors `parseThresholdStatements`.
fn thresholds(
    version: KubeletVersion,
    statements: &BTreeMap<String, String>,
) -> Result<Vec<Threshold>, String> {
    let mut list = Vec::new();
    for (signal, text) in statements {
        let signal = Signal::parse(version, signal)?;
        let Some(value) = threshold_value(version, signal, text)? else { continue };
        list.push(Threshold {
            signal,
            // `OpForSignal` had no entry for it.
            less_than: signal != Signal::AllocatableMemoryAvailable
                || version.rule(false, |release| release.compares_allocatable_memory()),
            value,
            grace_period: Duration::ZERO,
            min_reclaim: None,
        });
    }
    Ok(list)
}

/// Mirrors `parseThresholdStatement`; `None` for one that is ignored.
fn threshold_value(
    version: KubeletVersion,
    signal: Signal,
    text: &str,
) -> Result<Option<ThresholdValue>, String> {
    if text.ends_with('%') {
        let qos_era = version.is_qos_era();
        if matches!(text, "0%" | "100%") && !qos_era {
            return Ok(None);
        }
        let fraction = percentage(text)?;
        if qos_era && fraction <= 0.0 {
            return Err(format!("eviction percentage threshold {signal} must be positive: {text}"));
        }
        if fraction < 0.0 {
            return Err(format!("eviction percentage threshold {signal} must be >= 0%: {text}"));
        }
        let most = version.rule(f32::INFINITY, |release| release.largest_eviction_fraction());
        if fraction > most {
            return Err(format!("eviction percentage threshold {signal} must be <= 100%: {text}"));
        }
        return Ok(Some(ThresholdValue::Percentage(fraction)));
    }
    let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
    if quantity.sign() <= 0 {
        return Err(format!("eviction threshold {signal} must be positive: {quantity}"));
    }
    Ok(Some(ThresholdValue::Quantity(quantity)))
}

/// Mirrors `parsePercentage`, in 32 bits.
fn percentage(text: &str) -> Result<f32, String> {
    Ok(parse_float32(text.trim_end_matches('%'))? / 100.0)
}

/// Mirrors `parseGracePeriods`.
fn grace_periods(
    version: KubeletVersion,
    statements: &BTreeMap<String, String>,
) -> Result<Vec<(Signal, Duration)>, String> {
    let mut list = Vec::new();
    for (signal, text) in statements {
        let signal = Signal::parse(version, signal)?;
        let nanos = u64::try_from(parse_signed_duration(text)?).map_err(|_| {
            format!("invalid eviction grace period specified: {text}, must be a positive value")
        })?;
        list.push((signal, Duration::from_nanos(nanos)));
    }
    Ok(list)
}

/// Mirrors `parseMinimumReclaims`.
fn min_reclaims(
    version: KubeletVersion,
    statements: &BTreeMap<String, String>,
) -> Result<Vec<(Signal, ThresholdValue)>, String> {
    let mut list = Vec::new();
    for (signal, text) in statements {
        let signal = Signal::parse(version, signal)?;
        let value = if text.ends_with('%') {
            let fraction = percentage(text)?;
            if fraction <= 0.0 {
                return Err(format!(
                    "eviction percentage minimum reclaim {signal} must be positive: {text}"
                ));
            }
            ThresholdValue::Percentage(fraction)
        } else {
            let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
            if quantity.sign() < 0 {
                return Err(format!("negative eviction minimum reclaim specified for {signal}"));
            }
            ThresholdValue::Quantity(quantity)
        };
        list.push((signal, value));
    }
    Ok(list)
}
