//! `kubectl api-resources`.

use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::resources::{DEVICE_TAINT_RULES, ENDPOINT_SLICES, RESOURCES, Resource, is_of_devices};
use crate::session::Session;
use crate::table::table;

/// `kubectl api-resources`.
pub(crate) fn api_resources(
    session: &mut Session<'_>,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    if !arguments.is(&flags::NO_HEADERS) {
        rows.push(
            ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"].map(str::to_owned).into(),
        );
    }
    let release = session.release();
    let is_served = |resource: &&&Resource| match is_of_devices(resource) {
        true if ***resource == DEVICE_TAINT_RULES => release.serves_device_taint_rules(),
        true => release.serves_devices(),
        false => ***resource != ENDPOINT_SLICES || release.shows_endpoint_slices(),
    };
    rows.extend(RESOURCES.iter().filter(is_served).map(|resource| {
        vec![
            resource.plural.to_owned(),
            resource.short.join(","),
            resource.api_version(release),
            resource.namespaced.to_string(),
            resource.kind.to_owned(),
        ]
    }));
    session.print_text(&table(&rows));
    Ok(())
}
