//! `olmguard check` as it is run: what it reads, what it prints, where, and how it ends.
