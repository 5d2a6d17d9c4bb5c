//! Catalogs from files, records and catalogd.

mod catalogs;
mod fetching;
mod records;
