//! The widths of the log's columns.

/// What of the log has a width of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The column of reasons.
    Reason,
    /// The column of objects.
    Object,
    /// The column of messages, at least.
    Message,
}

impl Part {
    const ALL: [Self; 3] = [Self::Reason, Self::Object, Self::Message];

    /// Its variable in the style sheet.
    fn name(self) -> &'static str {
        match self {
            Self::Reason => "reason",
            Self::Object => "object",
            Self::Message => "message",
        }
    }

    /// How wide it is, in pixels, and how narrow and how wide it can be.
    pub(crate) fn size(self) -> (i32, (i32, i32)) {
        match self {
            Self::Reason => (160, (60, 400)),
            Self::Object => (218, (80, 700)),
            Self::Message => (240, (120, 2_400)),
        }
    }
}

/// The sizes of parts that are not as they are by themselves.
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

    /// For the style sheet: `--reason:158px;--object:196px`.
    pub(crate) fn style(&self) -> String {
        let all = self.0.iter().map(|(part, size)| format!("--{}:{size}px", part.name()));
        all.collect::<Vec<_>>().join(";")
    }

    /// As they were stored; what cannot be read is left out.
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

/// Where the browser keeps them.
pub(crate) const SIZES_KEY: &str = "taintlab.log";
