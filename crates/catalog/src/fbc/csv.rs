//! What of an `olm.csv.metadata` property is looked at.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`]; operator-framework/api,
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`].
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`]: https://github.com/operator-framework/api/blob/v0.45.0/pkg/operators/v1alpha1/clusterserviceversion_types.go

use std::borrow::Cow;

use super::json::{Cursor, CursorResult, Record};

/// The value of an `olm.csv.metadata`.
#[derive(Debug, Default)]
pub struct CsvMetadata<'a> {
    /// Whether `AllNamespaces` is supported, where install modes are listed.
    pub all_namespaces: Option<bool>,
    /// `minKubeVersion`; empty if absent.
    pub min_kube_version: Cow<'a, str>,
}

impl<'a> CsvMetadata<'a> {
    /// OLM does not read it to resolve, so what has not its type in it is just not known.
    pub(super) fn read_lenient(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let (csv, _) = cursor.isolated(Cursor::record)?;
        Ok(csv)
    }

    /// The same from where the value of each field begins, if there is one.
    pub(super) fn read_noted(
        noted: &[Option<usize>],
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<Self> {
        let read = |cursor: &mut Cursor<'a>| {
            let mut csv = Self::default();
            for (index, at) in noted.iter().enumerate() {
                if let Some(at) = at {
                    cursor.revisit(*at, |cursor| csv.read(index, cursor))?;
                }
            }
            Ok(csv)
        };
        let (csv, _) = cursor.isolated(read)?;
        Ok(csv)
    }
}

impl<'a> Record<'a> for CsvMetadata<'a> {
    const FIELDS: &'static [&'static str] = &["installModes", "minKubeVersion"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            let modes: Vec<InstallMode<'a>> = cursor.list(Cursor::record)?;
            let all = |mode: &InstallMode<'_>| mode.kind == "AllNamespaces" && mode.supported;
            self.all_namespaces = (!modes.is_empty()).then(|| modes.iter().any(all));
        } else {
            self.min_kube_version = cursor.text()?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct InstallMode<'a> {
    kind: Cow<'a, str>,
    supported: bool,
}

impl<'a> Record<'a> for InstallMode<'a> {
    const FIELDS: &'static [&'static str] = &["type", "supported"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            self.kind = cursor.text()?;
        } else {
            self.supported = cursor.boolean()?;
        }
        Ok(())
    }
}
