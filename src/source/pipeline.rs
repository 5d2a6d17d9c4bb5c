//! YAML documents on all cores, in order.
//!
//! Converting YAML to JSON takes ten times as long as reading that JSON, and each document can be converted
//! independently. So batches of documents go to threads in turn, and their JSON comes back in the same order. It is
//! consumed here, one document after another. Small catalogs never start a thread.
//!
//! A batch has the texts of its documents in one buffer and their JSON in another. The buffers are reused, so a catalog
//! of any size is read with the same few buffers.
//!
//! Invariant: `waiting` lists the batches that were sent and have not come back, oldest first. So reading results in
//! its order keeps the order of the files. The batches under way are bounded in number and in bytes.

use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope};

use super::SourceError;
use olmguard_catalog::blob::Position;
use olmguard_catalog::fbc::advance::Consumer;
use olmguard_catalog::fbc::reader::{self, YamlDocument};
use olmguard_catalog::fbc::yaml::{JSON_LIMIT, YamlMarks};
use olmguard_catalog::fbc::{
    BlobPlace, FbcError, FbcErrorKind, Intake, NotAFile, Places, TextOrigin,
};
use olmguard_catalog::memory::{Account, Loan, TooLarge};

/// Consumes the contents of files in order and hands their blobs to an intake.
pub(super) struct Pipeline<'scope, 'env, 's, I> {
    scope: &'scope Scope<'scope, 'env>,
    intake: &'s mut I,
    account: Account,
    batch: Batch,
    workers: Vec<PipelineWorker>,
    waiting: VecDeque<PendingBatch>,
    /// Batches whose buffers can be reused.
    spare: Vec<Batch>,
    /// The number of bytes of YAML read so far.
    seen: usize,
    /// The number of batches sent to workers.
    sent: usize,
}

/// Documents of one file that are converted together.
#[derive(Debug, Default)]
struct Batch {
    file: Arc<str>,
    /// The texts of the documents.
    text: Vec<u8>,
    /// The documents, each with its range of `text`.
    documents: Vec<YamlDocument<Range<usize>>>,
    /// The memory of each document, including its JSON.
    loans: Vec<Loan>,
    /// The JSON of the documents.
    json: Vec<u8>,
    /// For each converted document its range of `json`, or the reason why it has none.
    done: Vec<Result<(Range<usize>, YamlMarks), FbcError>>,
}

struct PipelineWorker {
    jobs: SyncSender<Batch>,
    results: Receiver<Batch>,
}

/// A batch under way.
struct PendingBatch {
    worker: usize,
    bytes: usize,
}

impl<'scope, 'env, 's, I: Intake> Pipeline<'scope, 'env, 's, I> {
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, intake: &'s mut I) -> Self {
        let account = intake.memory();
        Self {
            scope,
            intake,
            account,
            batch: Batch::default(),
            workers: Vec::new(),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            seen: 0,
            sent: 0,
        }
    }

    /// The account that counts the memory of reading.
    pub(super) fn memory(&self) -> &Account {
        &self.account
    }

    /// Starts a file. Everything that follows belongs to it.
    pub(super) fn begin_file(&mut self, name: &str) -> Result<(), SourceError> {
        self.send()?;
        self.batch.file = name.into();
        Ok(())
    }

    fn refused(&self, source: TooLarge) -> SourceError {
        let file = (*self.batch.file).into();
        SourceError::Memory { file, source }
    }

    /// Hands over an entry of the directory that is not a file, after everything before it.
    pub(super) fn not_a_file(
        &mut self,
        path: Box<str>,
        fault: NotAFile,
    ) -> Result<(), SourceError> {
        self.finish()?;
        let taken = self.intake.not_a_file(&path, fault);
        taken.map_err(|fault| SourceError::NotAFile { path, fault })
    }

    /// Hands over everything that is under way.
    pub(super) fn finish(&mut self) -> Result<(), SourceError> {
        self.send()?;
        while !self.waiting.is_empty() {
            self.receive()?;
        }
        Ok(())
    }

    /// Sends the batch to a worker, or converts it on this thread if no worker is available.
    fn send(&mut self) -> Result<(), SourceError> {
        if self.batch.documents.is_empty() {
            return Ok(());
        }
        let bytes = self.batch.text.len();
        self.make_room(bytes)?;
        let mut next = self.spare.pop().unwrap_or_default();
        next.file = Arc::clone(&self.batch.file);
        let batch = std::mem::replace(&mut self.batch, next);
        let Some(worker) = self.worker(bytes) else {
            return self.work_here(batch);
        };
        let Some(PipelineWorker { jobs, .. }) = self.workers.get(worker) else {
            return Err(SourceError::WorkerLost);
        };
        match jobs.send(batch) {
            Ok(()) => {
                self.sent += 1;
                self.waiting.push_back(PendingBatch { worker, bytes });
                Ok(())
            }
            Err(SendError(batch)) => self.work_here(batch),
        }
    }

    /// Waits until another batch of this size may be under way.
    fn make_room(&mut self, bytes: usize) -> Result<(), SourceError> {
        let full = |waiting: &VecDeque<PendingBatch>, workers: usize| {
            let under_way: usize = waiting.iter().map(|waiting| waiting.bytes).sum();
            waiting.len() >= workers * QUEUE || under_way + bytes > BYTES_UNDER_WAY
        };
        while !self.waiting.is_empty() && full(&self.waiting, self.workers.len()) {
            self.receive()?;
        }
        Ok(())
    }

    /// Returns the worker whose turn it is. Returns `None` for a small catalog, and for a document so large that
    /// several at the same time could exhaust memory.
    fn worker(&mut self, bytes: usize) -> Option<usize> {
        if self.seen < WORTH_A_THREAD || bytes > BYTES_UNDER_WAY {
            return None;
        }
        if self.workers.is_empty() {
            let workers = 0..cores().min(WORKERS);
            let workers = workers.map_while(|_| PipelineWorker::start(self.scope, I::PLACES));
            self.workers.extend(workers);
        }
        self.sent.checked_rem(self.workers.len())
    }

    fn work_here(&mut self, mut batch: Batch) -> Result<(), SourceError> {
        while !self.waiting.is_empty() {
            self.receive()?;
        }
        batch.work(I::PLACES);
        self.hand_over(batch)
    }

    /// Receives the oldest batch and hands over its blobs.
    fn receive(&mut self) -> Result<(), SourceError> {
        let oldest = self.waiting.pop_front();
        let worker = oldest.and_then(|waiting| self.workers.get(waiting.worker));
        let Some(Ok(batch)) = worker.map(|worker| worker.results.recv()) else {
            return Err(SourceError::WorkerLost);
        };
        self.hand_over(batch)
    }

    /// Hands over the blobs of a converted batch, and keeps its buffers unless they are large.
    fn hand_over(&mut self, batch: Batch) -> Result<(), SourceError> {
        for (document, done) in batch.documents.iter().zip(&batch.done) {
            let document = written(&batch.text, document);
            let (file, intake) = (&*batch.file, &mut *self.intake);
            let taken = match done {
                Ok((part, marks)) => {
                    let json = batch.json.get(part.clone()).unwrap_or_default();
                    reader::hand_over_document(&document, json, marks, file, intake)
                }
                Err(fault) if matches!(fault.malformed, FbcErrorKind::Aliases { .. }) => {
                    hand_over_alone(&document, file, intake)
                }
                Err(fault) => Err(fault.clone()),
            };
            let taken = taken.or_else(|fault| {
                let (origin, text) = (document.origin, document.text);
                self.intake.fault(&batch.file, fault, origin, text)
            });
            taken.map_err(|fault| fbc_error(&batch.file, fault))?;
        }
        self.spare.extend(batch.emptied());
        Ok(())
    }
}

impl<I: Intake> Consumer<I> for Pipeline<'_, '_, '_, I> {
    type Error = SourceError;

    /// Hands over a blob after everything before it.
    fn blob(
        &mut self,
        blob: I::Blob<'_>,
        position: Position,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), SourceError> {
        self.finish()?;
        let place = BlobPlace {
            file: &self.batch.file,
            position,
            origin,
            text,
            marks: None,
        };
        self.intake.take(blob, &place);
        self.account.check().map_err(|source| self.refused(source))
    }

    fn document(&mut self, document: &YamlDocument<&[u8]>) -> Result<(), SourceError> {
        self.seen += document.text.len();
        let needed = document.text.len().saturating_mul(YAML_PER_BYTE);
        let lent = self.account.lend(needed);
        let lent = lent.map_err(|source| self.refused(source))?;
        self.batch.push(document, lent);
        if self.batch.text.len() < BATCH {
            return Ok(());
        }
        self.send()
    }

    /// Hands over a fault after everything before it, because an earlier fault has precedence.
    fn fault(
        &mut self,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), SourceError> {
        self.finish()?;
        let file = &self.batch.file;
        let taken = self.intake.fault(file, fault, origin, text);
        taken.map_err(|fault| fbc_error(file, fault))
    }
}

impl Batch {
    fn push(&mut self, document: &YamlDocument<&[u8]>, loan: Loan) {
        self.loans.push(loan);
        let start = self.text.len();
        self.text.extend_from_slice(document.text);
        let text = start..self.text.len();
        self.documents.push(document.with_text(text));
    }

    /// Converts the documents to JSON, except those whose aliases need more memory than was lent for them.
    fn work(&mut self, places: Places) {
        for document in &self.documents {
            let start = self.json.len();
            let document = written(&self.text, document);
            let limit = document.text.len().saturating_mul(JSON_PER_BYTE);
            let limit = limit.min(JSON_LIMIT);
            let marks = document.append_json(places, limit, &mut self.json);
            if marks.is_err() {
                self.json.truncate(start);
            }
            self.done
                .push(marks.map(|marks| (start..self.json.len(), marks)));
        }
    }

    /// Empties the batch for reuse. Returns `None` if its buffers are too large to keep.
    fn emptied(mut self) -> Option<Self> {
        self.documents.clear();
        self.loans.clear();
        self.done.clear();
        self.text.clear();
        self.json.clear();
        let room = self.text.capacity().max(self.json.capacity());
        (room <= KEPT).then_some(self)
    }
}

impl PipelineWorker {
    /// Starts a thread. Returns `None` if the system cannot start one.
    fn start<'scope>(scope: &'scope Scope<'scope, '_>, places: Places) -> Option<Self> {
        let (jobs, todo) = sync_channel::<Batch>(QUEUE);
        let (done, results) = sync_channel(QUEUE);
        let work = move || {
            // The other end is closed if reading stopped at a fault. The rest is then not needed.
            for mut batch in todo {
                batch.work(places);
                if done.send(batch).is_err() {
                    break;
                }
            }
        };
        let builder = thread::Builder::new()
            .name("yaml".to_owned())
            .stack_size(STACK);
        builder.spawn_scoped(scope, work).ok()?;
        Some(Self { jobs, results })
    }
}

/// Hands over a document whose aliases make far more JSON than text. One at a time, so the JSON of one document is all
/// that is needed beyond the memory that was lent.
fn hand_over_alone<I: Intake>(
    document: &YamlDocument<&[u8]>,
    file: &str,
    intake: &mut I,
) -> Result<(), FbcError> {
    let mut json = Vec::new();
    let marks = document.append_json(I::PLACES, JSON_LIMIT, &mut json)?;
    reader::hand_over_document(document, &json, &marks, file, intake)
}

/// Returns a document with its part of the text of a batch.
fn written<'t>(text: &'t [u8], document: &YamlDocument<Range<usize>>) -> YamlDocument<&'t [u8]> {
    document.with_text(text.get(document.text.clone()).unwrap_or_default())
}

fn fbc_error(file: &str, source: FbcError) -> SourceError {
    let file = file.into();
    match source.malformed {
        FbcErrorKind::Memory(source) => SourceError::Memory { file, source },
        _ => SourceError::Fbc { file, source },
    }
}

/// The memory that a document needs for each byte of its text: a copy, its JSON in a buffer that may be growing (so a
/// smaller one is there, too), and a scalar as long as the document.
const YAML_PER_BYTE: usize = 6;

/// The bytes of JSON that a batch keeps for each byte of a document.
const JSON_PER_BYTE: usize = 2;

/// The size of a batch in bytes of YAML, large enough that the cost of handing it over is negligible.
const BATCH: usize = 128 << 10;

/// The largest buffer of a batch that is reused. Most documents that fill a batch are no larger than this.
const KEPT: usize = 4 * BATCH;

/// The minimum size in bytes of YAML that is worth a thread. Smaller catalogs are read before a thread would have
/// started.
const WORTH_A_THREAD: usize = 512 << 10;

/// The maximum number of batches under way to and from one worker: one in work, one waiting.
const QUEUE: usize = 2;

/// The maximum size in bytes of the YAML under way at any time.
const BYTES_UNDER_WAY: usize = 8 << 20;

/// The maximum number of workers. More do not help, because one thread makes blobs of their results.
const WORKERS: usize = 8;

/// The stack of a worker in bytes. A worker does not use recursion.
const STACK: usize = 512 << 10;

/// Returns how many threads can run at the same time. The answer is cached, because it takes reading several system
/// files.
pub(super) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}
