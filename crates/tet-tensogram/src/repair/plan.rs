//! The repair plan of a file, complete before the first byte is written.

use tet_format::{ForeignRule, Losses, Severity, Span};
use tet_io::{Image, Progress, Source};
use tet_report::{KeptObject, Proof};

use super::RepairOptions;
use super::build::{Outcome, PartKind, build};
use super::content::broken;
use super::context::RepairContext;
use super::edit::{Action, Edit, Loss, new_edit};
use super::fragment::Fragment;
use super::frames::fragments;
use crate::check::fidelity::Total;
use crate::check::{finding, first_error, verify};
use crate::error::{Error, Result};
use crate::open::no_message;
use crate::rule;
use crate::scan::{Scan, scan};
use crate::window::Window;

/// All possible repairs of a file.
pub type Plan = tet_report::Plan<Edit, Loss, RepairOptions>;

/// Plans the repair of a file. Nothing is written.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the caller canceled. Faults of the file are
/// in the plan; they are no error of this call.
pub fn plan(source: &Source, options: &RepairOptions) -> Result<Plan> {
    let mut plan = Plan::new(source, Image::default(), options.clone());
    // Hashes and elements are both checked.
    let all = source.len().saturating_mul(2);
    let progress = options.progress.begin(all);
    let scan = match scan(source, &options.limits) {
        Ok(scan) => scan,
        Err(Error::Format(fault)) => {
            plan.remaining = vec![finding(fault, None, None, 0)];
            return Ok(plan);
        }
        Err(error) => return Err(error),
    };
    let count = plan_messages(&mut plan, &scan, &progress)?;
    if count == 0 {
        let fault = no_message(source, &scan)?;
        plan.withheld.clear();
        (plan.edits, plan.lost, plan.kept) = (Vec::new(), Vec::new(), Vec::new());
        plan.remaining = vec![finding(fault, None, None, 0)];
    }
    // Without an edit every message was already checked.
    if !plan.edits.is_empty() && plan.is_whole() {
        plan.error_count = error_count(&plan)?;
    }
    source.check_unchanged()?;
    Ok(plan)
}

/// The number of errors that the file has after the edits.
fn error_count(plan: &Plan) -> Result<u64> {
    let options = plan.options.verify();
    Ok(verify(&plan.repaired(), &options)?.count(Severity::Error))
}

/// Plans the repair of all messages. Returns the number of messages in the new file.
fn plan_messages(plan: &mut Plan, scan: &Scan, progress: &Progress) -> Result<u64> {
    let (source, limits) = (plan.source.clone(), plan.options.limits);
    let total = Total::new(plan.options.decoded_max, &source);
    let mut planner = Planner {
        context: RepairContext::new(&source, &limits, (progress, &total)),
        options: plan.options.clone(),
        scan,
        plan,
        count: 0,
    };
    let messages = scan.messages.iter().map(|span| (*span, PartKind::Message));
    let gaps = scan.gaps.iter().map(|span| (*span, PartKind::Gap));
    let mut parts: Vec<(Span, PartKind)> = messages.chain(gaps).collect();
    parts.sort_unstable_by_key(|(span, _)| span.start());
    for (span, kind) in parts {
        progress.advance(0)?;
        match kind {
            PartKind::Message => planner.message(span)?,
            PartKind::Gap => planner.gap(span)?,
        }
    }
    Ok(planner.count)
}

struct Planner<'m, 'b> {
    context: RepairContext<'b>,
    options: RepairOptions,
    scan: &'m Scan,
    plan: &'m mut Plan,
    count: u64,
}

impl Planner<'_, '_> {
    /// A message that the scan found: copied if nothing is wrong with it.
    fn message(&mut self, span: Span) -> Result<()> {
        let how = self.options.verify();
        let mut window = Window::new(self.context.source);
        match first_error(&mut window, span, &how, self.context.progress(), self.context.total())? {
            None => self.keep(span),
            Some(rule) if rule.is_limit() => {
                self.plan.lost.push(Loss::Message { offset: span.start(), rule });
                self.keep(span);
            }
            Some(rule) => return self.rebuild(span, rule, PartKind::Message),
        }
        self.count += 1;
        Ok(())
    }

    fn keep(&mut self, span: Span) {
        self.plan.image.append_span(&self.plan.source, span);
    }

    /// Bytes outside all messages: zeros and messages of other versions stay.
    fn gap(&mut self, span: Span) -> Result<()> {
        let damages = self.scan.damages.iter();
        let inside = damages.filter(|it| span.contains(it.span));
        let others = inside.filter(|it| it.fault.rule.id == rule::VERSION.id);
        let others: Vec<Span> = others.map(|it| it.span).collect();
        let mut at = span.start();
        for other in others {
            if other.start() < at {
                continue;
            }
            self.part(at, other.start())?;
            if let Some(end) = self.misnamed(other.start(), span.end())? {
                at = end;
                continue;
            }
            let (offset, rule) = (other.start(), &rule::VERSION);
            self.plan.lost.push(Loss::Message { offset, rule });
            self.keep(other);
            at = other.end();
        }
        self.part(at, span.end())
    }

    /// A message of version 3 with a wrong version number. Returns its end.
    fn misnamed(&mut self, start: u64, end: u64) -> Result<Option<u64>> {
        let Some(span) = Span::from_range(start..end) else { return Ok(None) };
        let Some(first) = fragments(&mut self.context, span)?.into_iter().next() else {
            return Ok(None);
        };
        let is_start = first.start == start && first.lost.is_empty() && !first.frames.is_empty();
        if !is_start || first.postamble.is_none() {
            return Ok(None);
        }
        for intact in &first.frames {
            if intact.hash != intact.frame.tail.hash
                && broken(&mut self.context, &intact.frame)?.is_some()
            {
                return Ok(None);
            }
        }
        let Some(span) = Span::from_range(start..first.end) else { return Ok(None) };
        let mut rebuilt = Rebuilt::default();
        self.one(&first, (&rule::VERSION, PartKind::Gap), &mut rebuilt)?;
        self.settle(span, rebuilt);
        Ok(Some(first.end))
    }

    fn part(&mut self, start: u64, end: u64) -> Result<()> {
        let span = Span::from_range(start..end).filter(|span| !span.is_empty());
        let Some(span) = span else { return Ok(()) };
        if self.context.window.first_odd(start, end)?.is_none() {
            self.keep(span);
            return Ok(());
        }
        let damage = self.scan.damages.iter().find(|it| span.contains(it.span));
        let rule = damage.map_or(&rule::GAP_BYTES, |damage| damage.fault.rule);
        self.rebuild(span, rule, PartKind::Gap)
    }

    /// Rebuilds the messages in a part of the file. If that would lose something and losses are
    /// refused, the part stays unchanged.
    fn rebuild(&mut self, span: Span, rule: &'static ForeignRule, kind: PartKind) -> Result<()> {
        let mut rebuilt = Rebuilt::default();
        for fragment in fragments(&mut self.context, span)? {
            self.one(&fragment, (rule, kind), &mut rebuilt)?;
        }
        self.settle(span, rebuilt);
        Ok(())
    }

    fn settle(&mut self, span: Span, rebuilt: Rebuilt) {
        let Rebuilt { image, edits, lost, kept, count } = rebuilt;
        self.count += count;
        self.plan.lost.extend(lost);
        self.plan.kept.extend(kept);
        if self.options.losses == Losses::Refused && edits.iter().any(Edit::is_lossy) {
            self.keep(span);
            self.plan.withheld.extend(edits);
            return;
        }
        // Without edits, the span is copied whole, with bytes that no message claims.
        if edits.is_empty() {
            self.keep(span);
        } else {
            self.plan.image.append_image(&image);
            self.plan.edits.extend(edits);
        }
    }

    fn one(
        &mut self,
        fragment: &Fragment,
        (broken, kind): (&'static ForeignRule, PartKind),
        rebuilt: &mut Rebuilt,
    ) -> Result<()> {
        let span = Span::from_range(fragment.start..fragment.end);
        let Some(span) = span.filter(|span| !span.is_empty()) else { return Ok(()) };
        if fragment.frames.is_empty() {
            let is_junk = fragment.preamble.is_none();
            let (rule, action) = match is_junk {
                true => (&rule::GAP_BYTES, Action::DropBytes),
                false => (broken, Action::DropMessage),
            };
            let (offset, len) = (span.start(), span.len());
            let losses = vec![Loss::Bytes { offset, len }];
            let edit = new_edit(rule, (offset, len), action);
            rebuilt.edits.push(edit.losses(losses).proof(Proof::None));
            return Ok(());
        }
        let start = self.plan.image.len().saturating_add(rebuilt.image.len());
        let how = (&self.options, broken, kind);
        let (image, outcome) = build(&mut self.context, fragment, how, (span, start))?;
        let Outcome { edits, lost, kept } = outcome;
        rebuilt.count += u64::from(image.is_some());
        match image {
            // Nothing was repaired, so the message is copied unchanged.
            Some(_) if edits.is_empty() => {
                let first_at = fragment.frames.first().map_or(fragment.end, |it| it.frame.at());
                let start = if fragment.is_placed { fragment.start } else { first_at };
                rebuilt
                    .image
                    .append_span(self.context.source, Span::from_range(start..fragment.end));
            }
            Some(image) => rebuilt.image.append_image(&image),
            None => {}
        }
        rebuilt.edits.extend(edits);
        rebuilt.lost.extend(lost);
        rebuilt.kept.extend(kept);
        Ok(())
    }
}

/// The new content for a part of the file.
#[derive(Default)]
struct Rebuilt {
    image: Image,
    edits: Vec<Edit>,
    lost: Vec<Loss>,
    kept: Vec<KeptObject>,
    count: u64,
}
