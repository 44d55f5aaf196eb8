//! What a file needs, complete before the first byte is written.

use tet_format::{ForeignRule, Losses, Severity, Span};
use tet_io::{Image, Progress, Source};
use tet_report::{Kept, Proof};

use super::RepairOptions;
use super::build::{Outcome, Stretch, build};
use super::content::broken;
use super::context::RepairContext;
use super::edit::{Action, Edit, Loss, new_edit};
use super::frames::remains;
use super::remains::Remains;
use crate::check::fidelity::Total;
use crate::check::{finding, first_error, verify};
use crate::error::{Error, Result};
use crate::open::no_message;
use crate::rule;
use crate::scan::{Scan, scan};
use crate::window::Window;

/// All that can be done for a file.
pub type Plan = tet_report::Plan<Edit, Loss, RepairOptions>;

/// Works out what a file needs. Nothing is written.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the caller asked to stop. What is wrong with
/// the file is no error here: it is in the plan.
pub fn plan(source: &Source, options: &RepairOptions) -> Result<Plan> {
    let mut plan = Plan::new(source, Image::default(), options.clone());
    // Hashes and elements are looked at.
    let all = source.len().saturating_mul(2);
    let progress = options.progress.begin(all);
    let scan = match scan(source, &options.limits) {
        Ok(scan) => scan,
        Err(Error::Format(fault)) => {
            plan.remaining = vec![finding(fault, (None, None), 0)];
            return Ok(plan);
        }
        Err(error) => return Err(error),
    };
    let count = mend(&mut plan, &scan, &progress)?;
    if count == 0 {
        let fault = no_message(source, &scan)?;
        plan.withheld.clear();
        (plan.edits, plan.lost, plan.kept) = (Vec::new(), Vec::new(), Vec::new());
        plan.remaining = vec![finding(fault, (None, None), 0)];
    }
    // Without an edit every message was looked at already.
    if !plan.edits.is_empty() && plan.is_whole() {
        plan.error_count = error_count(&plan)?;
    }
    source.check_unchanged()?;
    Ok(plan)
}

/// How many errors the file has after the edits.
fn error_count(plan: &Plan) -> Result<u64> {
    let options = plan.options.verify();
    Ok(verify(&plan.repaired(), &options)?.count(Severity::Error))
}

/// Goes through the file; says how many messages the new one has.
fn mend(plan: &mut Plan, scan: &Scan, progress: &Progress) -> Result<u64> {
    let (source, limits) = (plan.source.clone(), plan.options.limits);
    let total = Total::new(plan.options.decoded_max, &source);
    let mut mender = Mender {
        context: RepairContext::new(&source, &limits, (progress, &total)),
        options: plan.options.clone(),
        scan,
        plan,
        count: 0,
    };
    let messages = scan.messages.iter().map(|span| (*span, Stretch::Message));
    let gaps = scan.gaps.iter().map(|span| (*span, Stretch::Gap));
    let mut stretches: Vec<(Span, Stretch)> = messages.chain(gaps).collect();
    stretches.sort_unstable_by_key(|(span, _)| span.start());
    for (span, stretch) in stretches {
        progress.advance(0)?;
        match stretch {
            Stretch::Message => mender.message(span)?,
            Stretch::Gap => mender.gap(span)?,
        }
    }
    Ok(mender.count)
}

struct Mender<'m, 'b> {
    context: RepairContext<'b>,
    options: RepairOptions,
    scan: &'m Scan,
    plan: &'m mut Plan,
    count: u64,
}

impl Mender<'_, '_> {
    /// A message that stands: kept as it is, if nothing is wrong with it.
    fn message(&mut self, span: Span) -> Result<()> {
        let how = self.options.verify();
        let mut window = Window::new(self.context.source);
        match first_error(&mut window, span, &how, (self.context.progress(), self.context.total()))?
        {
            None => self.keep(span),
            Some(rule) if rule.is_limit() => {
                self.plan.lost.push(Loss::Message { offset: span.start(), rule });
                self.keep(span);
            }
            Some(rule) => return self.rebuild(span, rule, Stretch::Message),
        }
        self.count += 1;
        Ok(())
    }

    fn keep(&mut self, span: Span) {
        self.plan.image.append_span(&self.plan.source, span);
    }

    /// Bytes of no message: zeros stay, messages of other versions too.
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
            self.stretch(at, other.start())?;
            if let Some(end) = self.misnamed(other.start(), span.end())? {
                at = end;
                continue;
            }
            let (offset, rule) = (other.start(), &rule::VERSION);
            self.plan.lost.push(Loss::Message { offset, rule });
            self.keep(other);
            at = other.end();
        }
        self.stretch(at, span.end())
    }

    /// A message that states another version and is one of this in every byte; where it ends.
    fn misnamed(&mut self, start: u64, end: u64) -> Result<Option<u64>> {
        let Some(span) = Span::from_range(start..end) else { return Ok(None) };
        let Some(first) = remains(&mut self.context, span)?.into_iter().next() else {
            return Ok(None);
        };
        let is_start = first.start == start && first.lost.is_empty() && !first.frames.is_empty();
        if !is_start || first.postamble.is_none() {
            return Ok(None);
        }
        for whole in &first.frames {
            if whole.hash != whole.frame.tail.hash
                && broken(&mut self.context, &whole.frame)?.is_some()
            {
                return Ok(None);
            }
        }
        let Some(span) = Span::from_range(start..first.end) else { return Ok(None) };
        let mut made = Made::default();
        self.one(&first, (&rule::VERSION, Stretch::Gap), &mut made)?;
        self.settle(span, made);
        Ok(Some(first.end))
    }

    fn stretch(&mut self, start: u64, end: u64) -> Result<()> {
        let span = Span::from_range(start..end).filter(|span| !span.is_empty());
        let Some(span) = span else { return Ok(()) };
        if self.context.window.first_odd(start, end)?.is_none() {
            self.keep(span);
            return Ok(());
        }
        let damage = self.scan.damages.iter().find(|it| span.contains(it.span));
        let rule = damage.map_or(&rule::GAP_BYTES, |damage| damage.fault.rule);
        self.rebuild(span, rule, Stretch::Gap)
    }

    /// Makes messages of what is left in a stretch; where that would lose something and must not, the
    /// stretch stays as it is.
    fn rebuild(&mut self, span: Span, rule: &'static ForeignRule, stretch: Stretch) -> Result<()> {
        let mut made = Made::default();
        for remains in remains(&mut self.context, span)? {
            self.one(&remains, (rule, stretch), &mut made)?;
        }
        self.settle(span, made);
        Ok(())
    }

    fn settle(&mut self, span: Span, made: Made) {
        let Made { image, edits, lost, kept, count } = made;
        self.count += count;
        self.plan.lost.extend(lost);
        self.plan.kept.extend(kept);
        if self.options.losses == Losses::Refused && edits.iter().any(Edit::is_lossy) {
            self.keep(span);
            self.plan.withheld.extend(edits);
            return;
        }
        // Bytes behind what was read belong to the stretch too, where nothing is done about them.
        if edits.is_empty() {
            self.keep(span);
        } else {
            self.plan.image.append_image(&image);
            self.plan.edits.extend(edits);
        }
    }

    fn one(
        &mut self,
        remains: &Remains,
        (broken, stretch): (&'static ForeignRule, Stretch),
        made: &mut Made,
    ) -> Result<()> {
        let span = Span::from_range(remains.start..remains.end);
        let Some(span) = span.filter(|span| !span.is_empty()) else { return Ok(()) };
        if remains.frames.is_empty() {
            let is_junk = remains.preamble.is_none();
            let (rule, action) = match is_junk {
                true => (&rule::GAP_BYTES, Action::DropBytes),
                false => (broken, Action::DropMessage),
            };
            let (offset, len) = (span.start(), span.len());
            let losses = vec![Loss::Bytes { offset, len }];
            let edit = new_edit(rule, (offset, len), action);
            made.edits.push(edit.losses(losses).proof(Proof::None));
            return Ok(());
        }
        let start = self.plan.image.len().saturating_add(made.image.len());
        let how = (&self.options, broken, stretch);
        let (image, outcome) = build(&mut self.context, remains, how, (span, start))?;
        let Outcome { edits, lost, kept } = outcome;
        made.count += u64::from(image.is_some());
        match image {
            // What is wrong with it stays: so does all of it.
            Some(_) if edits.is_empty() => {
                let first_at = remains.frames.first().map_or(remains.end, |it| it.frame.at());
                let start = if remains.is_placed { remains.start } else { first_at };
                made.image.append_span(self.context.source, Span::from_range(start..remains.end));
            }
            Some(image) => made.image.append_image(&image),
            None => {}
        }
        made.edits.extend(edits);
        made.lost.extend(lost);
        made.kept.extend(kept);
        Ok(())
    }
}

/// What is made of a stretch of the file.
#[derive(Default)]
struct Made {
    image: Image,
    edits: Vec<Edit>,
    lost: Vec<Loss>,
    kept: Vec<Kept>,
    /// How many messages it has.
    count: u64,
}
