//! The cluster: how it is reached, which catalogs and which OLM are in it.

#[cfg(test)]
mod tests;
