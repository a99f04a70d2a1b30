//! The objects of a cluster as tables, for links: objects of one shape are rows, and values that
//! all of them share stand once.
//!
//! Each object is told by its differences from another one, its base: a pod from the template of
//! its workload, a ReplicaSet from its Deployment, any other from the first of its kind. Objects of
//! the same shape are a table: a tree of their fields whose leaves are columns. The first number of
//! a column tells the kind of its values ([`Column`]); a single value is that of all rows.
//!
//! Links of format 2 hold these tables, so they are read forever.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use taintlab_core::api::json_value;
use taintlab_core::order::{Order, OrderedMap};
use taintlab_core::time::Time;

use super::slim::{RANKED, rank_of};

/// The lists of objects; lists that others refer to come first.
const LISTS: [&str; 5] = ["nodes", "workloads", "pods", "budgets", "others"];

/// The sign before the number of an item of a list, among the keys of mappings.
const ITEM: char = '#';

/// The kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Values as they are.
    Plain = 0,
    /// Times: seconds since the object was created; for that time itself, seconds before the start.
    Seconds = 1,
    /// Names of nodes, as their places in the list of nodes.
    Node = 2,
    /// Suffixes of the texts of the base.
    Suffix = 3,
    /// The name of the object itself.
    OwnName = 4,
    /// UIDs, as numbers in their order.
    Rank = 5,
}

impl Column {
    fn of(number: &Value) -> Result<Self, String> {
        let all = [Self::Plain, Self::Seconds, Self::Node, Self::Suffix, Self::OwnName, Self::Rank];
        let index = number.as_u64().and_then(|number| usize::try_from(number).ok());
        index.and_then(|index| all.get(index).copied()).ok_or_else(|| broken("a column"))
    }
}

/// A list of objects.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Packed {
    /// The base of each object: 0 for none, the place plus one of an object before it in the list,
    /// or minus the place plus one of a workload.
    b: Vec<i64>,
    /// The table of each object.
    t: Vec<usize>,
    /// The tree of fields of each table.
    f: Vec<Value>,
}

/// Values that are unpacked of a list at most: few letters can stand for many.
const MOST_PARTS: usize = 1_000_000;

fn broken(what: &str) -> String {
    format!("{what} in its packed part is not what it should be")
}

/// Names that columns refer to.
struct Names {
    nodes: Vec<String>,
    /// The start, from which times count.
    start: i64,
}

impl Names {
    fn of(scenario: &Map<String, Value>) -> Self {
        let start = scenario.get("start").and_then(Value::as_str);
        let start = start.and_then(|start| Time::parse(start).ok()).unwrap_or(Time::DEFAULT_START);
        Self { nodes: Vec::new(), start: start.unix_seconds() }
    }
}

/// The seconds since 1970 of a time without fractions, written in the usual way.
fn seconds(text: &str) -> Option<i64> {
    let time = Time::parse(text).ok().filter(|time| time.to_string() == text)?;
    let seconds = time.unix_seconds();
    (Time::from_unix_seconds(seconds) == time).then_some(seconds)
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

fn name_of(object: &Value) -> &str {
    at(object, &["metadata", "name"]).and_then(Value::as_str).unwrap_or_default()
}

fn born(object: &Value) -> Option<i64> {
    at(object, &["metadata", "creationTimestamp"]).and_then(Value::as_str).and_then(seconds)
}

/// Packs the objects of a scenario.
pub(super) fn pack(scenario: &mut Value) {
    let Value::Object(scenario) = scenario else { return };
    let mut names = Names::of(scenario);
    let Some(Value::Object(objects)) = scenario.get_mut("objects") else { return };
    let mut workloads = Vec::new();
    let mut images = Vec::new();
    for list in LISTS {
        let Some(Value::Array(items)) = objects.get_mut(list) else { continue };
        let mut items = std::mem::take(items);
        if list == "nodes" {
            pack_images(&mut items, &mut images);
        }
        let packed = pack_list(&items, &workloads, &names);
        objects.insert(list.to_owned(), json_value(&packed).unwrap_or_default());
        match list {
            "nodes" => names.nodes = items.iter().map(|node| name_of(node).to_owned()).collect(),
            "workloads" => workloads = items,
            _ => {}
        }
    }
    if !images.is_empty() {
        objects.insert(IMAGES.to_owned(), images.into());
    }
}

/// The images of all nodes, in place of a list of objects.
const IMAGES: &str = "images";

/// Puts numbers in place of images, as nodes have the same ones.
fn pack_images(nodes: &mut [Value], all: &mut Vec<Value>) {
    for own in nodes.iter_mut().filter_map(|node| node.pointer_mut("/status/images")) {
        for image in own.as_array_mut().into_iter().flatten() {
            let place = all.iter().position(|known| known == image).unwrap_or_else(|| {
                all.push(image.clone());
                all.len() - 1
            });
            *image = place.into();
        }
    }
}

fn unpack_images(nodes: &mut [Value], all: &[Value]) -> Result<(), String> {
    for own in nodes.iter_mut().filter_map(|node| node.pointer_mut("/status/images")) {
        for image in own.as_array_mut().into_iter().flatten() {
            let place = image.as_u64().and_then(|place| usize::try_from(place).ok());
            let found = place.and_then(|place| all.get(place)).cloned();
            *image = found.ok_or_else(|| broken("an image"))?;
        }
    }
    Ok(())
}

/// Unpacks what [`pack`] has packed.
///
/// # Errors
/// The value was not packed by [`pack`].
pub(super) fn unpack(scenario: &mut Value) -> Result<(), String> {
    let Value::Object(scenario) = scenario else { return Ok(()) };
    let mut names = Names::of(scenario);
    let Some(Value::Object(objects)) = scenario.get_mut("objects") else { return Ok(()) };
    let mut workloads = Vec::new();
    let images = objects.remove(IMAGES).unwrap_or_default();
    let images = images.as_array().map_or(&[][..], Vec::as_slice);
    for list in LISTS {
        let Some(packed) = objects.get_mut(list) else { continue };
        let packed: Packed =
            taintlab_manifest::typed(packed).map_err(|_| broken("a list of objects"))?;
        let mut items = unpack_list(&packed, &workloads, &names)?;
        if list == "nodes" {
            unpack_images(&mut items, images)?;
        }
        match list {
            "nodes" => names.nodes = items.iter().map(|node| name_of(node).to_owned()).collect(),
            "workloads" => workloads.clone_from(&items),
            _ => {}
        }
        objects.insert(list.to_owned(), Value::Array(items));
    }
    Ok(())
}

/// A pod from the template of a workload, as far as the template says it.
fn pod_of(workload: &Value) -> Value {
    let template = |path: &[&str]| at(workload, path).cloned().unwrap_or_default();
    let own = |key: &str| workload.get(key).cloned().unwrap_or_default();
    let mut metadata = json!({
        "name": name_of(workload),
        "namespace": template(&["metadata", "namespace"]),
        "ownerReferences": [{
            "apiVersion": own("apiVersion"), "kind": own("kind"), "name": name_of(workload),
            "controller": true, "blockOwnerDeletion": true, "uid": "",
        }],
    });
    for field in ["labels", "annotations"] {
        let value = at(workload, &["spec", "template", "metadata", field]);
        if let Some((value, metadata)) = value.zip(metadata.as_object_mut()) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    json!({ "metadata": metadata, "spec": template(&["spec", "template", "spec"]) })
}

fn base<'v>(
    number: i64,
    items: &'v [Value],
    workloads: &[Value],
) -> Result<Option<Cow<'v, Value>>, String> {
    let place = |number: i64| usize::try_from(number - 1).ok();
    let found = match number {
        0 => return Ok(None),
        1.. => place(number).and_then(|place| items.get(place)).map(Cow::Borrowed),
        _ => place(-number)
            .and_then(|place| workloads.get(place))
            .map(|workload| Cow::Owned(pod_of(workload))),
    };
    found.map(Some).ok_or_else(|| broken("a base"))
}

/// The kind, namespace and name of an object.
fn key_of(object: &Value) -> [String; 3] {
    let text = |path: &[&str]| at(object, path).and_then(Value::as_str).unwrap_or_default();
    let namespace = text(&["metadata", "namespace"]);
    [text(&["kind"]), namespace, name_of(object)].map(str::to_owned)
}

fn owner_of(object: &Value) -> Option<[String; 3]> {
    let owner = at(object, &["metadata", "ownerReferences"])?.get(0)?;
    let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
    let namespace = at(object, &["metadata", "namespace"]).and_then(Value::as_str);
    Some([text("kind"), namespace.unwrap_or_default(), text("name")].map(str::to_owned))
}

/// The base of each object.
fn bases(items: &[Value], workloads: &[Value]) -> Vec<i64> {
    let number = |place: usize| i64::try_from(place + 1).unwrap_or_default();
    let owners: OrderedMap<_, _> =
        workloads.iter().enumerate().map(|(place, it)| (key_of(it), -number(place))).collect();
    let mut own = BTreeMap::new();
    let mut first: BTreeMap<String, i64> = BTreeMap::new();
    let mut numbers = Vec::new();
    for (place, object) in items.iter().enumerate() {
        let owner = owner_of(object);
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        // Pods state no kind, and pods that nodes own are like one another.
        let alike = match &owner {
            Some([owner, ..]) => format!("{kind} {owner}"),
            None => kind.to_owned(),
        };
        let owner = owner.as_ref();
        let known = owner.and_then(|owner| own.get(owner).or_else(|| owners.get(owner)));
        let known = known.copied().or_else(|| first.get(&alike).copied());
        numbers.push(known.unwrap_or_default());
        first.entry(alike).or_insert(number(place));
        own.insert(key_of(object), number(place));
    }
    numbers
}

/// Writes the shape of a value: the names and places of all that is in it.
fn shape(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (key, value) in map {
                out.push_str(key);
                out.push(':');
                shape(value, out);
            }
            out.push('}');
        }
        Value::Array(items) if !is_leaf(value) => {
            out.push('[');
            items.iter().for_each(|item| shape(item, out));
            out.push(']');
        }
        _ => out.push(','),
    }
}

/// Whether a value is written as a whole: scalars, empty mappings, lists of numbers.
fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.iter().all(Value::is_number),
        _ => true,
    }
}

fn pack_list(items: &[Value], workloads: &[Value], names: &Names) -> Packed {
    let mut packed = Packed { b: bases(items, workloads), ..Packed::default() };
    let bases: Vec<Value> = packed
        .b
        .iter()
        .map(|number| match base(*number, items, workloads) {
            Ok(Some(base)) => base.into_owned(),
            _ => Value::Null,
        })
        .collect();
    let mut tables: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows: Vec<Vec<Row<'_>>> = Vec::new();
    for (value, base) in items.iter().zip(&bases) {
        let mut key = String::new();
        shape(value, &mut key);
        shape(base, &mut key);
        let next = rows.len();
        let table = *tables.entry(key).or_insert(next);
        if table == next {
            rows.push(Vec::new());
        }
        packed.t.push(table);
        let row = Row { value, base: Some(base), born: born(value), name: name_of(value) };
        if let Some(rows) = rows.get_mut(table) {
            rows.push(row);
        }
    }
    let tree = |rows: &Vec<Row<'_>>| difference(rows, names, Depth::Object);
    packed.f = rows.iter().map(|rows| tree(rows).unwrap_or_else(|| json!({}))).collect();
    packed
}

/// The place of a field in an object, as far as it matters for names and times.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Object,
    Metadata,
    /// `metadata.name`.
    Name,
    /// `metadata.creationTimestamp`.
    Birth,
    Inside,
}

impl Depth {
    fn of(self, key: &str) -> Self {
        match (self, key) {
            (Self::Object, "metadata") => Self::Metadata,
            (Self::Metadata, "name") => Self::Name,
            (Self::Metadata, "creationTimestamp") => Self::Birth,
            _ => Self::Inside,
        }
    }
}

/// One object, or one part of it and of its base.
#[derive(Clone, Copy)]
struct Row<'v> {
    value: &'v Value,
    base: Option<&'v Value>,
    born: Option<i64>,
    name: &'v str,
}

/// The tree of differences from the bases; none if there are none.
fn difference(rows: &[Row<'_>], names: &Names, depth: Depth) -> Option<Value> {
    if rows.iter().all(|row| row.base == Some(row.value)) {
        return None;
    }
    let first = rows.first()?.value;
    if is_leaf(first) {
        return Some(column(rows, names, depth));
    }
    let mut tree = Map::new();
    match first {
        Value::Object(map) => {
            for key in map.keys() {
                let parts = parts(rows, |value| value.get(key));
                if let Some(part) = difference(&parts, names, depth.of(key)) {
                    tree.insert(escaped(key), part);
                }
            }
            let gone = rows.first().and_then(|row| row.base).and_then(Value::as_object);
            for key in gone.into_iter().flat_map(Map::keys).filter(|key| !map.contains_key(*key)) {
                tree.insert(escaped(key), 0.into());
            }
        }
        Value::Array(items) => {
            for place in 0..items.len() {
                let parts = parts(rows, |value| value.get(place));
                if let Some(part) = difference(&parts, names, Depth::Inside) {
                    tree.insert(format!("{ITEM}{place}"), part);
                }
            }
            let before = rows.first().and_then(|row| row.base).and_then(Value::as_array);
            if before.is_some_and(|before| before.len() > items.len()) {
                tree.insert(format!("{ITEM}{}", items.len()), 0.into());
            }
        }
        _ => {}
    }
    Some(Value::Object(tree))
}

/// One part of each row, which all rows have.
fn parts<'v>(rows: &[Row<'v>], part: impl Fn(&'v Value) -> Option<&'v Value>) -> Vec<Row<'v>> {
    let of = |row: &Row<'v>| {
        Some(Row { value: part(row.value)?, base: row.base.and_then(&part), ..*row })
    };
    rows.iter().filter_map(of).collect()
}

/// A key of a mapping, in a form that is no place in a list.
fn escaped(key: &str) -> String {
    if key.starts_with(ITEM) { format!("{ITEM}{key}") } else { key.to_owned() }
}

/// A column of values, each a leaf.
fn column(rows: &[Row<'_>], names: &Names, depth: Depth) -> Value {
    type Read<'a> = &'a dyn Fn(&Row<'_>) -> Option<Value>;
    let kinds: [(Column, Read<'_>); 5] = [
        (Column::OwnName, &|row| {
            let is_own = depth != Depth::Name && row.value.as_str()? == row.name;
            is_own.then_some(0.into())
        }),
        (Column::Seconds, &|row| {
            let time = seconds(row.value.as_str()?)?;
            Some(between(depth, row.born, names, time).into())
        }),
        (Column::Node, &|row| {
            let name = row.value.as_str()?;
            Some(names.nodes.iter().position(|node| node == name)?.into())
        }),
        (Column::Rank, &|row| Some(rank_of(row.value.as_str()?)?.into())),
        (Column::Suffix, &|row| {
            let base = row.base?.as_str().filter(|base| !base.is_empty())?;
            Some(row.value.as_str()?.strip_prefix(base)?.into())
        }),
    ];
    let mut found = (Column::Plain, rows.iter().map(|row| row.value.clone()).collect());
    for (kind, write) in kinds {
        if let Some(values) = rows.iter().map(write).collect::<Option<Vec<Value>>>() {
            found = (kind, values);
            break;
        }
    }
    let (kind, mut values) = found;
    if values.windows(2).all(|pair| pair.first() == pair.last()) {
        values.truncate(1);
        // A plain value that all rows share needs no column.
        if let (Column::Plain, [value @ (Value::String(_) | Value::Bool(_))]) = (kind, &*values) {
            return value.clone();
        }
    }
    values.insert(0, (kind as u8).into());
    Value::Array(values)
}

/// The seconds that stand for a time: before the start, or since the object was created.
fn between(depth: Depth, born: Option<i64>, names: &Names, time: i64) -> i64 {
    match (depth, born) {
        (Depth::Birth, _) | (_, None) => names.start.saturating_sub(time),
        (_, Some(born)) => time.saturating_sub(born),
    }
}

fn unpack_list(packed: &Packed, workloads: &[Value], names: &Names) -> Result<Vec<Value>, String> {
    let mut items: Vec<Value> = Vec::new();
    let mut used = vec![0; packed.f.len()];
    if packed.b.len() != packed.t.len() {
        return Err(broken("the number of objects"));
    }
    let mut parts = 0;
    for (number, table) in packed.b.iter().zip(&packed.t) {
        let base = base(*number, &items, workloads)?.map(Cow::into_owned);
        let tree = packed.f.get(*table).ok_or_else(|| broken("a table"))?;
        let row = used.get_mut(*table).ok_or_else(|| broken("a table"))?;
        let mut cell = Cell { row: *row, born: None, name: String::new(), names };
        *row += 1;
        // Other fields refer to these two.
        for (path, depth) in
            [(["metadata", "name"], Depth::Name), (["metadata", "creationTimestamp"], Depth::Birth)]
        {
            let own = at(tree, &path);
            let before = base.as_ref().and_then(|base| at(base, &path)).cloned();
            let value = match own {
                Some(own) => cell.apply(own, before, depth)?,
                None => before,
            };
            let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
            match depth {
                Depth::Birth => cell.born = seconds(text),
                _ => text.clone_into(&mut cell.name),
            }
        }
        let item = cell.apply(tree, base, Depth::Object)?.unwrap_or_default();
        parts += parts_of(&item);
        if parts > MOST_PARTS {
            return Err(format!("it unpacks to more than {MOST_PARTS} fields"));
        }
        items.push(item);
    }
    Ok(items)
}

/// The number of values in a value, with itself.
fn parts_of(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(parts_of).sum(),
        Value::Array(items) => items.iter().map(parts_of).sum(),
        _ => 0,
    }
}

/// The values of one row.
struct Cell<'n> {
    row: usize,
    born: Option<i64>,
    name: String,
    names: &'n Names,
}

impl Cell<'_> {
    /// The value that a tree makes of its base; none if the tree says so.
    fn apply(
        &self,
        tree: &Value,
        base: Option<Value>,
        depth: Depth,
    ) -> Result<Option<Value>, String> {
        let tree = match tree {
            Value::Array(column) => return self.value(column, base, depth).map(Some),
            Value::Object(tree) => tree,
            Value::String(_) | Value::Bool(_) => return Ok(Some(tree.clone())),
            Value::Null | Value::Number(_) => return Ok(None),
        };
        let is_place = |key: &String| key.starts_with(ITEM) && !key.starts_with("##");
        if tree.is_empty() {
            return Ok(Some(base.unwrap_or_else(|| json!({}))));
        }
        if tree.keys().any(is_place) {
            let mut items = match base {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let mut places = Vec::new();
            for (key, part) in tree {
                let place = key.strip_prefix(ITEM).and_then(|place| place.parse::<usize>().ok());
                places.push((place.ok_or_else(|| broken("a place in a list"))?, part));
            }
            places.order_by_key(|(place, _)| *place);
            for (place, part) in places {
                let before = items.get(place).cloned();
                match self.apply(part, before, Depth::Inside)? {
                    None => items.truncate(place),
                    Some(value) if place == items.len() => items.push(value),
                    Some(value) => {
                        *items.get_mut(place).ok_or_else(|| broken("a list"))? = value;
                    }
                }
            }
            return Ok(Some(Value::Array(items)));
        }
        let mut map = match base {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        for (key, part) in tree {
            let key = if key.starts_with(ITEM) { key.get(1..).unwrap_or_default() } else { key };
            let before = map.remove(key);
            if let Some(value) = self.apply(part, before, depth.of(key))? {
                map.insert(key.to_owned(), value);
            }
        }
        Ok(Some(Value::Object(map)))
    }

    fn value(&self, column: &[Value], base: Option<Value>, depth: Depth) -> Result<Value, String> {
        let (kind, values) = column.split_first().ok_or_else(|| broken("a column"))?;
        let value = if values.len() == 1 { values.first() } else { values.get(self.row) };
        let value = value.ok_or_else(|| broken("a column"))?;
        let text: Option<String> = match Column::of(kind)? {
            Column::Plain => return Ok(value.clone()),
            Column::Seconds => value.as_i64().map(|seconds| {
                let time = match (depth, self.born) {
                    (Depth::Birth, _) | (_, None) => self.names.start.saturating_sub(seconds),
                    (_, Some(born)) => born.saturating_add(seconds),
                };
                Time::from_unix_seconds(time).to_string()
            }),
            Column::Node => {
                let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| self.names.nodes.get(place)).cloned()
            }
            Column::Suffix => {
                let base = base.as_ref().and_then(Value::as_str).unwrap_or_default();
                value.as_str().map(|suffix| format!("{base}{suffix}"))
            }
            Column::OwnName => Some(self.name.clone()),
            Column::Rank => value.as_u64().map(|rank| format!("{RANKED}{rank:012x}")),
        };
        text.map(Value::from).ok_or_else(|| broken("a column"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(scenario: &Value) -> usize {
        let mut packed = scenario.clone();
        pack(&mut packed);
        let text = packed.to_string();
        let mut again = serde_json::from_str(&text).unwrap();
        unpack(&mut again).unwrap();
        assert_eq!(&again, scenario);
        text.len()
    }

    #[test]
    fn objects_of_any_shape_come_back() {
        let pod = |name: &str, node: &str, at: &str| {
            json!({
                "metadata": {
                    "name": name, "namespace": "shop", "labels": { "app": "web", "#odd": "##" },
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "uid": format!("{RANKED}00000000000a"),
                    "ownerReferences": [{
                        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1",
                        "controller": true, "blockOwnerDeletion": true,
                    }],
                },
                "spec": { "nodeName": node, "containers": [{ "name": "c" }], "tolerations": [] },
                "status": { "startTime": at, "sizes": [1, 2, 3], "none": {} },
            })
        };
        let mut other = pod("web-1-x", "b", "2026-01-01T00:00:07.5Z");
        other["spec"]["containers"] = json!([{ "name": "web-1-x" }, { "image": "i" }]);
        let scenario = json!({
            "start": "2026-01-02T00:00:00Z",
            "objects": {
                "nodes": [
                    {
                        "metadata": { "name": "a", "labels": { "kubernetes.io/hostname": "a" } },
                        "status": { "images": [{ "names": ["i"] }, { "names": ["j"] }] },
                    },
                    { "metadata": { "name": "b", "labels": { "kubernetes.io/hostname": "b" } } },
                ],
                "workloads": [{
                    "apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "metadata": { "name": "web-1", "namespace": "shop" },
                    "spec": { "template": {
                        "metadata": { "labels": { "app": "web" } },
                        "spec": { "containers": [{ "name": "c" }, { "name": "d" }], "gone": 5 },
                    } },
                }],
                "pods": [
                    pod("web-1-aaa", "a", "2026-01-01T00:00:05Z"),
                    pod("web-1-bbb", "b", "2026-01-01T00:00:09Z"),
                    other,
                    { "metadata": { "name": "alone" } },
                ],
                "nodeGroups": [{ "name": "g" }],
            },
        });
        let packed = there_and_back(&scenario);
        assert!(packed < scenario.to_string().len(), "{packed}");
        there_and_back(&json!({ "objects": { "nodes": [], "pods": [{}] } }));
        there_and_back(&json!({}));
    }

    #[test]
    fn broken_parts_are_named() {
        for objects in [
            json!({ "nodes": 5 }),
            json!({ "nodes": { "b": [0], "t": [], "f": [] } }),
            json!({ "nodes": { "b": [3], "t": [0], "f": [{}] } }),
            json!({ "nodes": { "b": [-1], "t": [0], "f": [{}] } }),
            json!({ "nodes": { "b": [0], "t": [7], "f": [{}] } }),
            json!({ "nodes": { "b": [0], "t": [0], "f": [{ "a": [9, 1] }] } }),
            json!({ "nodes": { "b": [0], "t": [0], "f": [{ "a": [] }] } }),
            json!({ "nodes": { "b": [0, 0, 0], "t": [0, 0, 0], "f": [{ "a": [0, 1, 2] }] } }),
            json!({ "nodes": { "b": [0], "t": [0], "f": [{ "a": { "#4": [0, 1] } }] } }),
            json!({ "nodes": { "b": [0], "t": [0], "f": [{ "a": [2, 4] }] } }),
            json!({ "nodes": { "b": [0], "t": [0], "f": [{ "status": { "images": [0, [7]] } }] } }),
        ] {
            let error = unpack(&mut json!({ "objects": objects.clone() })).unwrap_err();
            assert!(error.contains("is not what it should be"), "{objects}: {error}");
        }
    }
}
