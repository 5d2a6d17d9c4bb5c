//! What to do about a refusal: every suggestion is judged before it is made.
//!
//! A hop of [`Advice::path`] is an edit that pins its version, with the channels and the selector of
//! the request; what it resolves to is installed for the next, recorded as the controller does.
//!
//! Invariant: an edit that follows [`Advice::fix`], each further step of the path, each version of
//! `allowed_next`, and the override are allowed by [`crate::judge::rule`] for the same snapshot.

mod ground;
mod proof;
mod remedy;

use crate::extension::Extension;
use crate::judge::{Basis, Request, RuledEdit, Ruling, Verdict};
use crate::resolve::{Choice, Effort, Stop, next_hops};
use olmguard_catalog::version::{Version, crd};

use ground::Ground;
use proof::Prover;
use remedy::Remedies;

/// What to do about a refusal; empty where nothing is refused or nothing helps.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Advice {
    /// The versions that can be reached in one edit, highest first, the installed one left out.
    pub allowed_next: Vec<String>,
    /// The versions on the way, the installed one first if there is one; empty where none is known.
    pub path: Vec<String>,
    /// The edit to make first.
    pub fix: Option<Fix>,
    /// Whether the bypass would let the edit through.
    pub bypass: BypassHelps,
    /// Whether a search ended at its bound or was stopped: there may be more to suggest.
    pub is_cut: bool,
}

/// One field to set, and to what.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fix {
    /// The path of the field, in the object's own shape.
    pub field: String,
    /// Its value.
    pub value: FixValue,
}

/// The value of a field to set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FixValue {
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

/// Whether the bypass would let an edit through.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BypassHelps {
    /// It would.
    Yes,
    /// It would not, or it is set.
    #[default]
    No,
}

impl Advice {
    /// What there is to say of a ruling before anything is searched for.
    pub fn not_yet(request: &Request<'_>, ruled: &RuledEdit<'_>) -> Self {
        Self {
            is_cut: is_advised_on(request, ruled),
            ..Self::default()
        }
    }
}

/// The advice for a ruling on an extension's edit. Once it is told to stop it returns soon.
pub fn advise(
    basis: Basis<'_>,
    extension: &Extension,
    request: &Request<'_>,
    ruled: &RuledEdit<'_>,
    stop: &Stop,
) -> Advice {
    if !is_advised_on(request, ruled) {
        return Advice::default();
    }
    let effort = Effort::of(MOST_BUNDLES, stop);
    let prover = Prover {
        basis,
        request: *request,
        effort: &effort,
    };
    let anything = Ground::of(basis, &request.filter.without_version());
    let from = anything.as_ref().zip(prover.origin());
    let next =
        from.map(|(ground, origin)| next_hops(&ground.offers, &origin, &ground.bounds(&effort)));
    let next = next.unwrap_or_default();
    let most_next = most_next(prover.bundles(&request.filter.package));
    let is_cut = next.len() > most_next && most_next < MOST_NEXT;
    let next: Vec<_> = next
        .into_iter()
        .take(most_next)
        .filter(|choice| prover.admits_hop(*choice))
        .collect();
    let remedies = Remedies {
        prover: &prover,
        fields: &extension.fields,
        ruled,
        anything: anything.as_ref(),
        next: &next,
    };
    let remedy = remedies.remedy();
    Advice {
        allowed_next: next.iter().filter_map(|choice| pin(*choice)).collect(),
        bypass: prover.bypass(),
        is_cut: is_cut || remedy.is_cut || effort.is_cut(),
        ..remedy
    }
}

/// Whether anything is searched for: what the API refuses is refused whatever the version and the
/// policy are set to.
fn is_advised_on(request: &Request<'_>, ruled: &RuledEdit<'_>) -> bool {
    let is_unread = matches!(ruled.ruling, Ruling::InvalidSpec(_));
    let is_wide = request.filter.entries() > MOST_ENTRIES;
    !is_unread && !is_wide && ruled.ruling.token().verdict() == Verdict::Deny
}

/// How many versions that can be reached are proven where each proof looks at so many bundles: half of
/// the effort is left for the rest.
fn most_next(bundles: usize) -> usize {
    (MOST_BUNDLES / 2 / bundles.max(1)).clamp(1, MOST_NEXT)
}

/// The text that pins a bundle's version, if the API takes one of that length.
pub fn pin(choice: Choice<'_>) -> Option<String> {
    pin_of(&choice.bundle().version.as_ref().ok()?.version)
}

fn pin_of(version: &Version) -> Option<String> {
    let text = version.without_build().to_string();
    crd::fits_length(&text).then_some(text)
}

/// How many channels and entries of the selector a filter may have for which anything is proven: each
/// proof compiles all of them anew, and the CRD takes 256 channels.
const MOST_ENTRIES: usize = 512;

/// How many versions that can be reached at once are proven and named: more than any real package
/// has, and few enough for one that was made to hurt.
const MOST_NEXT: usize = 256;

/// How many bundles are looked at for the advice on one edit: two seconds at most. It is enough to search
/// and to prove a path through each of two thousand bundles; the largest package recorded has 203.
const MOST_BUNDLES: usize = 8 << 20;
