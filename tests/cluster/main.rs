//! Catalogs from files, the cache and catalogd.

mod catalogs;
mod fetching;
mod kept;
