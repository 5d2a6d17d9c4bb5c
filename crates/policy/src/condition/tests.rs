//! Expressions: their meaning, their refusal, and their failure.

mod refused;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::change::{
    BypassPermission, Change, Maker, Moment, Operation, PolicyBundle, PolicyOrigin, Subject,
    UserInfo,
};
use olmguard_catalog::version::{Constraint, Masterminds, Version};

/// The facts of a change, owned.
struct Facts {
    from: Option<Version>,
    to: Version,
    labels: BTreeMap<String, String>,
    channels: Vec<String>,
    user: UserInfo,
    range: Constraint,
}

/// Compiles one expression with a budget of its own.
fn compiled(text: &str) -> Result<Compiled, ExpressionError> {
    let mut budget = limits::EXPRESSION_STEPS;
    compile(text, &mut budget)
}

impl Facts {
    fn new() -> Self {
        Self {
            from: Some(Version::parse("0.6.0").unwrap()),
            to: Version::parse("1.0.0-rc.1").unwrap(),
            labels: BTreeMap::from([("tier".to_owned(), "production".to_owned())]),
            channels: vec!["stable".to_owned()],
            user: UserInfo {
                name: "jane".to_owned(),
                groups: vec!["dev".to_owned(), "platform".to_owned()],
            },
            range: Constraint::parse(">=0.6.0", Masterminds::V3_5).unwrap(),
        }
    }

    fn change(&self) -> Change<'_> {
        let from = self.from.as_ref().map_or(PolicyOrigin::Nothing, |version| {
            PolicyOrigin::Bundle(PolicyBundle {
                name: "argocd-operator.v0.6.0",
                version,
            })
        });
        Change {
            subject: Subject {
                package: "argocd-operator",
                namespace: "argocd",
                labels: &self.labels,
            },
            maker: Maker::User,
            from,
            to: PolicyBundle {
                name: "argocd-operator.v1.0.0",
                version: &self.to,
            },
            is_move: true,
            catalog: "operatorhubio",
            channels: &self.channels,
            range: Some(&self.range),
            bypass: false,
            permission: BypassPermission::Unknown,
            deprecated: true,
            operation: Operation::Update,
            user: Some(&self.user),
            now: Moment::from_unix_seconds(0),
        }
    }

    fn evaluate(&self, expression: &str) -> Result<bool, String> {
        let compiled =
            compiled(expression).unwrap_or_else(|refusal| panic!("{expression}: {refusal:?}"));
        evaluate(&compiled, &mut ConditionScope::of(&self.change()))
    }
}

#[test]
fn every_variable_has_its_value() {
    let facts = Facts::new();
    for expression in [
        "from.major == 0 && from.minor == 6 && from.patch == 0 && from.prerelease == ''",
        "from.version == '0.6.0' && from.bundle == 'argocd-operator.v0.6.0'",
        "to.major == 1 && to.prerelease == \"rc.1\" && to.version == r'1.0.0-rc.1'",
        "to.bundle.startsWith('argocd-operator.')",
        "package == 'argocd-operator' && namespace == 'argocd' && catalog == 'operatorhubio'",
        "[package, namespace] == ['argocd-operator', 'argocd'] // package",
        "channels == ['stable'] && 'stable' in channels && size(channels) == 1",
        "labels.tier == 'production' && labels['tier'] == 'production' && 'tier' in labels",
        "has(labels.tier) && !has(labels.team)",
        "range == '>=0.6.0' && operation == 'UPDATE' && !bypass && deprecated",
        "user.name == 'jane' && user.groups.exists(g, g == 'platform')",
        "from == null || to.major == from.major || user.groups.exists(g, g == 'platform')",
        "user.groups.all(g, g != 'root') && user.groups.exists_one(g, g == 'dev')",
        "user.groups.filter(g, g.endsWith('v')).map(g, g + '!') == ['dev!']",
        "labels.exists(package, package == 'tier')",
        "size(channels.map(c, c + catalog)) == 1",
        "(bypass ? 1 : 2) + int('3') == 5 && string(7) == '7' && 'ab'.contains('b')",
        "r'\\' == '\\\\' && R'\\' != ''",
        "'''it's \"package\"''' == \"it's \\\"package\\\"\"",
        "'''of two\npackage''' == 'of two\\npackage'",
    ] {
        assert_eq!(facts.evaluate(expression), Ok(true), "{expression}");
    }
}

#[test]
fn nothing_installed_and_no_range() {
    let mut facts = Facts::new();
    facts.from = None;
    assert_eq!(facts.evaluate("from == null"), Ok(true));
    assert_eq!(facts.evaluate("from == null || from.major == 0"), Ok(true));
    let compiled = compiled("range == ''").unwrap();
    let change = Change {
        range: None,
        ..facts.change()
    };
    assert_eq!(
        evaluate(&compiled, &mut ConditionScope::of(&change)),
        Ok(true)
    );
    assert!(facts.evaluate("from.major == 0").is_err());
}

#[test]
fn what_is_neither_true_nor_false_fails() {
    let facts = Facts::new();
    for (expression, error) in [
        ("1", "expected true or false, found int"),
        ("null", "expected true or false, found null"),
        ("'true'", "expected true or false, found string"),
        ("labels", "expected true or false, found map"),
        ("labels.team == 'a'", "there is no key \"team\""),
        ("1 / 0 == 1", "division by zero"),
        ("1 % 0 == 1", "division by zero"),
        ("9223372036854775807 + 1 > 0", "add overflows 64 bits"),
        ("-9223372036854775807 - 2 > 0", "sub overflows 64 bits"),
        ("9223372036854775807 * 2 > 0", "mul overflows 64 bits"),
        (
            "(-9223372036854775807 - 1) / -1 > 0",
            "div overflows 64 bits",
        ),
        (
            "(-9223372036854775807 - 1) % -1 > 0",
            "rem overflows 64 bits",
        ),
        (
            "-(-9223372036854775807 - 1) > 0",
            "negate overflows 64 bits",
        ),
        ("0u - 1u > 0u", "sub overflows 64 bits"),
        ("channels[7] == ''", "there is no index 7"),
        ("channels[-1] == ''", "there is no index -1"),
        ("channels[0.5] == ''", "float is not an index of list"),
        ("{'a': 1, 'a': 2} == {}", "a mapping has a key twice"),
        (
            "int('x') == 1",
            "function int fails: string parse error: invalid digit found in string",
        ),
        ("int(1e300) == 1", "function int fails: integer overflow"),
        (
            "uint(-1) == 1u",
            "function uint fails: unsigned integer overflow",
        ),
        (
            "'a' < 1",
            "found no matching overload for '_<_' applied to '(string, int)'",
        ),
        ("'a' + 1 == 'a1'", "add does not apply to string and int"),
        (
            "!'a'",
            "found no matching overload for '!_' applied to '(string)'",
        ),
        (
            "1 && true",
            "found no matching overload for '_&&_' applied to '(int, bool)'",
        ),
        (
            "'a'.size(1) == 1",
            "found no matching overload for 'size' applied to 'string.(int)'",
        ),
        (
            "labels.all(k, int(k) == 1)",
            "it fails for an entry of a mapping",
        ),
    ] {
        let found = facts.evaluate(expression).unwrap_err();
        assert_eq!(found, error, "{expression}");
    }
}

#[test]
fn values_over_their_limits_fail_and_are_not_cut_off() {
    let with = |change: fn(&mut Facts)| {
        let mut facts = Facts::new();
        change(&mut facts);
        facts
    };
    let many_groups = with(|facts| facts.user.groups = vec!["g".to_owned(); 257]);
    let rows = [
        (
            &many_groups,
            "user.groups == []",
            "user.groups: expected at most 256 entries, found more",
        ),
        (
            &with(|facts| facts.user.groups = vec!["g".repeat(1025)]),
            "user.name == ''",
            "user.groups: expected at most 1024 bytes, found more",
        ),
        (
            &with(|facts| facts.channels = vec![String::new(); 65]),
            "size(channels) == 1",
            "channels: expected at most 64 entries, found more",
        ),
        (
            &with(|facts| facts.labels = (0..65).map(|n| (n.to_string(), String::new())).collect()),
            "'a' in labels",
            "labels: expected at most 64 entries, found more",
        ),
        (
            &with(|facts| facts.to = Version::parse("9223372036854775808.0.0").unwrap()),
            "to.major > 1",
            "to: a number of the version exceeds 64 bits",
        ),
    ];
    for (facts, expression, error) in rows {
        assert_eq!(
            facts.evaluate(expression).unwrap_err(),
            error,
            "{expression}"
        );
    }
    // Only variables that are read are limited.
    assert_eq!(many_groups.evaluate("to.major == 1"), Ok(true));
    let full = with(|facts| facts.user.groups = vec!["g".repeat(1024); 256]);
    assert_eq!(
        full.evaluate("user.groups.all(g, user.groups.all(h, g == h))"),
        Ok(true)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Neither the scan nor the parser nor an evaluation panics or takes long.
    #[test]
    fn any_text_is_read_and_evaluated(text in expression()) {
        if let Ok(compiled) = compiled(&text) {
            let _ = evaluate(&compiled, &mut ConditionScope::of(&Facts::new().change()));
        }
    }

    /// The same for texts that the parser accepts, most of which are evaluated.
    #[test]
    fn any_expression_is_evaluated(text in well_formed()) {
        if let Ok(compiled) = compiled(&text) {
            let facts = Facts::new();
            let found = evaluate(&compiled, &mut ConditionScope::of(&facts.change()));
            prop_assert_eq!(&found, &evaluate(&compiled, &mut ConditionScope::of(&facts.change())));
        }
    }

    #[test]
    fn any_characters_are_read(text in ".{0,64}") {
        let _ = compiled(&text);
    }

    /// Rewriting keeps positions.
    #[test]
    fn the_scan_keeps_the_length(text in expression()) {
        if let Ok(scanned) = scan::scan(&text) {
            prop_assert_eq!(scanned.len(), text.len());
        }
    }
}

/// Texts of parts of expressions. Many of them are valid, and the others nearly so.
fn expression() -> impl Strategy<Value = String> {
    let parts = [
        "from",
        "to",
        "user",
        ".groups",
        ".major",
        "labels",
        "package",
        "namespace",
        "channels",
        " && ",
        " || ",
        " == ",
        " < ",
        " + ",
        " - ",
        " * ",
        " / ",
        " % ",
        "!",
        "-",
        "?",
        ":",
        ",",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".exists(g, ",
        ".all(g, ",
        ".map(g, ",
        ".filter(g, ",
        "has(",
        "size(",
        "string(",
        "int(",
        "g",
        "1",
        "0",
        "9223372036854775807",
        "1.5",
        "2u",
        "'a'",
        "\"",
        "'",
        "'''",
        "r'",
        "b'",
        "null",
        "true",
        "false",
        " in ",
        "\\",
        "\n",
        "//",
        "é",
        "`",
        ".",
    ];
    prop::collection::vec(prop::sample::select(Vec::from(parts)), 0..24)
        .prop_map(|parts| parts.concat())
}

/// Expressions by the grammar, of any types.
fn well_formed() -> impl Strategy<Value = String> {
    let leaves = [
        "from",
        "to",
        "from.major",
        "to.prerelease",
        "user.groups",
        "user.name",
        "labels",
        "channels",
        "package",
        "range",
        "bypass",
        "x",
        "y",
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "1.5",
        "2u",
        "18446744073709551615u",
        "1e308",
        "''",
        "'dev'",
        "b'a'",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "labels.tier",
        "labels.none",
    ];
    let leaf = prop::sample::select(Vec::from(leaves)).prop_map(str::to_owned);
    leaf.prop_recursive(5, 32, 3, |inner| {
        let operators = [
            "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in",
        ];
        let functions = ["size", "string", "int", "uint", "double", "dyn", "-", "!"];
        let members = ["contains", "startsWith", "endsWith"];
        let comprehensions = ["all", "exists", "exists_one", "map", "filter"];
        let one = || inner.clone();
        prop_oneof![
            (one(), prop::sample::select(Vec::from(operators)), one())
                .prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
            (prop::sample::select(Vec::from(functions)), one())
                .prop_map(|(function, a)| format!("{function}({a})")),
            (one(), prop::sample::select(Vec::from(members)), one())
                .prop_map(|(a, member, b)| format!("({a}).{member}({b})")),
            (
                one(),
                prop::sample::select(Vec::from(comprehensions)),
                "[xy]",
                one()
            )
                .prop_map(|(a, name, variable, b)| format!("({a}).{name}({variable}, {b})")),
            (one(), one(), one()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (one(), one()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (one(), one()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            (one(), one()).prop_map(|(a, b)| format!("{{{a}: {b}}}")),
            one().prop_map(|a| format!("has(({a}).tier)")),
        ]
    })
}

// === The maximum number of steps of an evaluation, based on the largest values of a scope ===

/// One step per node, and per operator the weight of its arguments: 1 for a scalar, 17 for the longest text of a
/// variable.
#[test]
fn steps_are_bounded_by_the_nodes_and_the_weight_of_what_they_take() {
    for (expression, expected) in [
        ("bypass", 1),
        ("!bypass", 3),
        ("package == ''", 21),
        (
            "package == 'a text of more than sixty-four bytes, which is one unit heavier than a short one'",
            22,
        ),
        ("to.major == 1", 6),
        ("to.version == ''", 22),
        ("has(labels.tier)", 2),
        ("labels.tier == ''", 39),
        ("[1, 2, 3] == [1]", 27),
        ("{'a': 1, 'b': 2} == {}", 27),
        ("[1, 2, 3][0] == 1", 25),
        ("[package, 'a'][0] == ''", 68),
        ("[[package]][0][0] == ''", 111),
        ("string(package + range) == ''", 115),
        ("dyn(package) == 1", 39),
        ("size(channels + channels) == 1", 4620),
        ("(bypass ? channels : user.groups) == []", 10381),
        ("channels.exists(c, c == '')", 3012),
        ("channels.all(c, c == '' || bypass)", 3140),
        ("channels.exists_one(c, c == '')", 3208),
        ("channels.map(c, c) == []", 5066),
        ("channels.map(c, [c, c]) == []", 11402),
        ("channels.filter(c, c == '') == []", 7818),
        ("[1, 2].map(i, i).exists(i, i == 1)", 69),
        ("[1, 2].map(i, channels).exists(all, all == [])", 9287),
        ("labels.exists(key, key == '')", 5188),
        ("[1].exists(i, [2].exists(j, i == j))", 41),
        ("(channels + ['a']).exists(c, c == '')", 4221),
        ("size([package] + [1]) == 1", 76),
    ] {
        let mut budget = limits::EXPRESSION_STEPS;
        let refused = compile(expression, &mut budget).err();
        assert_eq!(refused, None, "{expression}");
        let steps = limits::EXPRESSION_STEPS - budget;
        assert_eq!(steps, expected, "{expression}");
    }
}
