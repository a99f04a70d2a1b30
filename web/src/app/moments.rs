//! Messages that are about the clock or the work.

use crate::messages::Msg;

/// Whether a message is about the clock or the work. Such a message refers to the moment of the
/// clock, not to a moment that is being peeked at.
pub(super) fn is_of_the_clock(msg: &Msg) -> bool {
    match msg {
        Msg::Frame(_)
        | Msg::Lanes(_)
        | Msg::Told(_)
        | Msg::Log(_)
        | Msg::ToggleLog(_)
        | Msg::ToggleLogSelected
        | Msg::Cancel
        | Msg::StillBusy(_)
        | Msg::Slow(_)
        | Msg::Offers(..)
        | Msg::Flags(..)
        | Msg::CheckKubeletFlags(..)
        | Msg::Stage(_)
        | Msg::EmbedPacked(..)
        | Msg::Read(..)
        | Msg::ReadAgain(..)
        | Msg::List(..)
        | Msg::Excerpt(..)
        | Msg::ReadYaml(..)
        | Msg::Preview(..)
        | Msg::Select(_)
        | Msg::Focused(_)
        | Msg::Move(_)
        | Msg::Copy(_)
        | Msg::Complete(..)
        | Msg::NextTheme
        | Msg::SetDensity(_)
        | Msg::NextDensity
        | Msg::ToggleFine
        | Msg::Find(_)
        | Msg::PodsNamed(..)
        | Msg::Focus(_)
        | Msg::Notice(_)
        | Msg::Dismiss(_)
        | Msg::Dropping(_)
        | Msg::Download(..)
        | Msg::DownloadStored(..)
        | Msg::Save
        | Msg::Written(_)
        | Msg::Leave
        | Msg::Return
        | Msg::Address(..)
        | Msg::LinkRead(_)
        | Msg::Run(_)
        | Msg::ReportAnswer(..)
        | Msg::Plan(_) => false,
        Msg::Edit(..)
        | Msg::EditAndClose(..)
        | Msg::EditYaml(..)
        | Msg::ReplacePod(..)
        | Msg::Undo
        | Msg::Redo
        | Msg::TogglePlay
        | Msg::SetSpeed(_)
        | Msg::Faster
        | Msg::Slower
        | Msg::Step
        | Msg::StepBack
        | Msg::StepAbout(_)
        | Msg::ToggleKind(_)
        | Msg::RunToEnd
        | Msg::Seek(_)
        | Msg::GoTo(..)
        | Msg::Open(_)
        | Msg::CloseDialog
        | Msg::Clear
        | Msg::Replace(_)
        | Msg::Add
        | Msg::Export(..)
        | Msg::Picture(..)
        | Msg::ChangeStart(_)
        | Msg::ChangeSettings(_)
        | Msg::SetBaseline
        | Msg::Show(_)
        | Msg::Escape
        | Msg::ToBoard
        | Msg::WentBack
        | Msg::Kubectl(_)
        | Msg::Pane(_)
        | Msg::Files(_)
        | Msg::OpenSession(_)
        | Msg::ContinueSession(_)
        | Msg::TakeLink
        | Msg::MakeLink(..)
        | Msg::MakeEmbed(_)
        | Msg::DownloadShared(_)
        | Msg::SetBookmarks(_)
        | Msg::Tell(_)
        | Msg::NextBookmark
        | Msg::PreviousBookmark
        | Msg::LateEviction
        | Msg::OpenExample(_)
        | Msg::Until(..)
        | Msg::Branch(_)
        | Msg::Compare(..)
        | Msg::Report(_)
        | Msg::Sessions => true,
    }
}
