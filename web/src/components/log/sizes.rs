//! The widths of the log's columns.

/// The columns of the log that can be resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The column of reasons.
    Reason,
    /// The column of objects.
    Object,
    /// The column of messages; a minimum width.
    Message,
}

impl Part {
    const ALL: [Self; 3] = [Self::Reason, Self::Object, Self::Message];

    /// The column's variable in the style sheet.
    fn name(self) -> &'static str {
        match self {
            Self::Reason => "reason",
            Self::Object => "object",
            Self::Message => "message",
        }
    }

    /// The default width in pixels, and the smallest and the largest width.
    pub(crate) fn size(self) -> (i32, (i32, i32)) {
        match self {
            Self::Reason => (160, (60, 400)),
            Self::Object => (218, (80, 700)),
            Self::Message => (240, (120, 2_400)),
        }
    }
}

/// The widths that were changed, by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes(Vec<(Part, i32)>);

impl Sizes {
    pub(crate) fn get(&self, part: Part) -> i32 {
        let known = self.0.iter().find(|(known, _)| *known == part);
        known.map_or(part.size().0, |(_, size)| *size)
    }

    pub(crate) fn set(&mut self, part: Part, size: i32) {
        self.0.retain(|(known, _)| *known != part);
        self.0.push((part, size));
    }

    /// The widths for the style sheet: `--reason:158px;--object:196px`.
    pub(crate) fn style(&self) -> String {
        let all = self.0.iter().map(|(part, size)| format!("--{}:{size}px", part.name()));
        all.collect::<Vec<_>>().join(";")
    }

    /// Parses stored widths; an unreadable one is left out.
    pub(crate) fn parse(text: &str) -> Self {
        let of = |entry: &str| {
            let (name, size) = entry.strip_prefix("--")?.strip_suffix("px")?.split_once(':')?;
            let part = Part::ALL.into_iter().find(|part| part.name() == name)?;
            let (_, (least, most)) = part.size();
            Some((part, size.parse::<i32>().ok()?.clamp(least, most)))
        };
        Self(text.split(';').filter_map(of).collect())
    }
}

/// The storage key of the widths.
pub(crate) const SIZES_KEY: &str = "taintlab.log";
