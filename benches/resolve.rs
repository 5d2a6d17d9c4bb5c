//! The cost of one decision, compared with OLM's resolver on the same requests, in turns in one run.
//!
//! There is a row for each package of whole catalogs and each kind of request: nothing installed and any version, a
//! pin, an upgrade to any version, a range in one channel, a refused downgrade, and a shuffled mix. Nothing is cached
//! between calls, and each call compiles its range. A decision includes its evidence, but no message. The refusal is
//! also measured with message and advice, which OLM does not give. Both programs must resolve to the same bundle.

mod requests;
mod subject;

use std::hint::black_box;

use olmguard_engine::explain::answer;
use olmguard_engine::judge::{Basis, Edit, Request as Question, Requester, rule};
use olmguard_engine::resolve::EditContext;
use olmguard_figures::{Aim, Figure, Unit};

use self::subject::{Asked, Subject, asked};
use crate::peers::RESOLVER;
use crate::resolver::{Request, Resolver};
use crate::run::Run;
use crate::turns::{alternate, each, enough, seconds};
use crate::world::{PACKAGE, World};

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    let packages: &[(&str, &str)] = match world {
        World::Whole(_) => &PACKAGES,
        World::Small => &[("hub", PACKAGE)],
    };
    let program = RESOLVER.file(run);
    for (catalog, package) in packages {
        let text = world.package(catalog, package);
        let subject = Subject::of(package, &text);
        let mut resolver = program
            .as_ref()
            .map(|program| Resolver::start(program, &text));
        let title = format!("{package}, {} bundles", subject.bundles.len());
        for (kind, requests) in requests::kinds(&subject) {
            let row = Row {
                subject: &subject,
                asked: requests.iter().map(asked).collect(),
                requests,
            };
            row.assert_same(kind, resolver.as_mut());
            let took = row.measure(run, resolver.as_mut(), |asked| row.rule(asked));
            run.note(&Figure {
                row: format!("{title}: {kind}"),
                aim: Some(if subject.bundles.len() > FEW {
                    Aim::Ratio(100.0)
                } else {
                    Aim::AtMost(0.5)
                }),
                ..took
            });
            if kind == requests::REFUSED {
                let took = row.measure(run, resolver.as_mut(), |asked| row.answer(asked));
                run.note(&Figure {
                    row: format!("{title}: {kind}, with message and advice"),
                    aim: Some(Aim::Ratio(30.0)),
                    ..took
                });
            }
        }
    }
}

/// Requests about one package.
struct Row<'a> {
    subject: &'a Subject,
    asked: Vec<Asked>,
    requests: Vec<Request>,
}

impl Row<'_> {
    /// Asserts that both programs resolve each request to the same bundle, or to none.
    fn assert_same(&self, kind: &str, resolver: Option<&mut Resolver>) {
        let ours: Vec<_> = self
            .asked
            .iter()
            .map(|asked| self.subject.resolved(asked))
            .collect();
        assert_eq!(
            kind == requests::REFUSED,
            ours.iter().all(Option::is_none),
            "{kind}: {ours:?}"
        );
        if let Some(resolver) = resolver {
            assert_eq!(resolver.resolved(&self.requests), ours, "{kind}");
        }
    }

    /// The time of one request, averaged over all requests.
    fn measure(&self, run: &Run, resolver: Option<&mut Resolver>, ours: impl Fn(&Asked)) -> Figure {
        let count = f64::from(u32::try_from(self.asked.len()).expect("few"));
        let mut all = || self.asked.iter().for_each(&ours);
        let Some(resolver) = resolver else {
            return run.figure("", Unit::Microseconds, each(run, all) * 1e6 / count);
        };
        let calls = enough(run, &mut all);
        // OLM is slower, so fewer calls are enough for its turn.
        let calls_of_peer = calls.div_ceil(50);
        let ours = || seconds(calls, &mut all) * 1e6 / count;
        let theirs = || resolver.turn(&self.requests, calls_of_peer) * 1e6;
        let [ours, theirs, ratio] = alternate(run.count(TURNS, 1), ours, theirs);
        Figure {
            peer: Some(RESOLVER.took(theirs, ratio)),
            ..run.figure("", Unit::Microseconds, ours)
        }
    }

    fn rule(&self, asked: &Asked) {
        let question = Question {
            filter: &asked.filter,
            installed: &asked.installed,
            context: EditContext::unknown(),
        };
        black_box(rule(self.basis(), black_box(&question)));
    }

    fn answer(&self, asked: &Asked) {
        let edit = Edit {
            new: &asked.extension,
            old: None,
            installed: &asked.installed,
            schema: &[],
            requester: Requester::unknown(),
        };
        let answer = answer(self.basis(), black_box(&edit));
        assert!(answer.message.is_some(), "a refusal has a message");
    }

    fn basis(&self) -> Basis<'_> {
        Basis::without_policies(black_box(&self.subject.snapshot))
    }
}

/// Catalogs and packages, with many and with few bundles.
const PACKAGES: [(&str, &str); 6] = [
    ("v4.20", "project-quay"),
    ("v4.19", "hive-operator"),
    ("v4.20", "opendatahub-operator"),
    ("v4.18", "infinispan"),
    ("v4.18", "kube-green"),
    ("v4.20", "kepler-operator"),
];

/// The size of a package up to which OLM is fast, too.
const FEW: usize = 20;
const TURNS: usize = 15;
