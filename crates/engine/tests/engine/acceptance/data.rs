//! The data sets D1 to D7.

use olmguard_fixtures::written::{Written, written};

pub(super) const D1: &Written<'_> = &written(
    "alpha: 0.1.0; 1.0.0 skipRange <1.0.0; 1.0.1 skipRange <1.0.1; 1.0.2 skipRange <1.0.2; \
            2.0.0 skipRange >=1.0.0 <2.0.0
     beta: 0.1.0; 1.0.2 skipRange <1.0.2
     gamma: 3.0.0 skipRange >=2.0.0 <3.0.0
     (deprecated): 1.0.0; 1.0.1",
);

/// A catalog that has everything but `P`.
pub(super) const WITHOUT: &Written<'_> = &Written {
    package: "other",
    prefix: "other.v",
    lines: "stable: 1.0.0",
};

/// The six catalogs a to f of D2.
pub(super) const D2: [(&str, i32, &Written<'_>); 6] = [
    ("a", 0, WITHOUT),
    ("b", 0, &written("(none): 1.0.0\n (deprecated): 1.0.0")),
    ("c", 0, &written("(none): 1.0.1\n (deprecated): 1.0.1")),
    ("d", 0, &written("(none): 1.0.2")),
    ("e", 0, &written("(none): 1.0.3\n (deprecated): 1.0.3")),
    ("f", 0, &written("(none): 1.0.4; 1.0.5")),
];

pub(super) const D3: &Written<'_> = &Written {
    package: "P",
    prefix: "test-package.v",
    lines: "stable: 2.0.0; 2.1.0 replaces 2.0.0; 2.2.0 replaces 2.1.0 skips 2.0.0+1; 2.2.1; \
                    2.3.0 replaces 2.2.0 skips 2.2.1; 2.4.0 skipRange >=2.3.0 <2.4.0
            (none): 2.0.0+1",
};

pub(super) const D4: &Written<'_> = &Written {
    package: "P",
    prefix: "P.",
    lines: "alpha: 1.0.0; 1.0.2 replaces 1.0.0
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.0.4; 1.2.0 replaces 1.0.1",
};

pub(super) const D4_V2: &Written<'_> = &Written {
    package: "P",
    prefix: "P.",
    lines: "beta: 1.3.0 replaces 1.2.0",
};

pub(super) const D5: &Written<'_> = &Written {
    package: "test",
    prefix: "test-operator.",
    lines: "alpha: 1.0.0
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.2.0 replaces 1.0.1",
};

pub(super) const D5_V2: &Written<'_> = &Written {
    package: "test",
    prefix: "test-operator.",
    lines: "beta: 2.0.0 replaces 1.2.0",
};

pub(super) const D6: &Written<'_> = &Written {
    package: "prometheus",
    prefix: "operatorhub/prometheus/",
    lines: "alpha:
            beta: 1.0.0; 1.0.1 replaces 1.0.0; 1.2.0 replaces 1.0.1; 2.0.0 replaces 1.2.0
            (none): 0.37.0",
};

pub(super) const D7: &Written<'_> = &written(
    "alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0; 0.4.0 replaces 0.3.0; \
            0.5.0 replaces 0.4.0; 0.6.0 replaces 0.5.0
     beta: 0.2.0 replaces 0.1.0; 0.4.0 replaces 0.2.0; 0.6.0 replaces 0.4.0
     stable: 0.4.0 replaces 0.1.0 skips 0.2.0,0.3.0",
);
