//! Reviews as rows: what is refused as malformed, what is judged, and what the reply says.
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::admission::{OnUndecided, Review, ReviewError};
use crate::catalog::CatalogBuilder;
use crate::judge::Token;
use crate::olm::Rules;
use crate::snapshot::{CatalogState, Content, Snapshot};
