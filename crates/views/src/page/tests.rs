use super::*;

#[track_caller]
fn finds(text: &str, token: Token) {
    assert_eq!(find(text), PageSubject::Token(token), "{text}");
}

#[track_caller]
fn leaves_open(text: &str, tokens: &[Token]) {
    assert_eq!(find(text), PageSubject::OneOf(tokens.to_vec()), "{text}");
}

#[test]
fn a_token_is_found_by_its_name() {
    for token in Token::ALL {
        finds(token.as_str(), token);
        finds(&token.as_str().to_lowercase(), token);
    }
    finds(" [NotASuccessor]\n", Token::NotASuccessor);
}

#[test]
fn every_check_is_in_the_list_of_its_page() {
    for check in PreflightCheck::ALL {
        let item = of_check(*check);
        assert!(item.contains(check.as_str()), "{check:?}: {item}");
        assert!(!item.contains("\n- "), "{check:?}: {item}");
    }
    let item = of_check(PreflightCheck::CrdScope);
    assert!(item.ends_with("warns of the rest."), "{item}");
}

#[test]
fn an_alert_is_found_by_its_name_alone_or_in_a_notification() {
    for runbook in Runbook::ALL {
        let title = format!("# {}\n", runbook.alert);
        assert!(runbook.page.starts_with(&title), "{}", runbook.alert);
        assert_eq!(find(runbook.alert), PageSubject::Alert(*runbook));
        let lower = runbook.alert.to_ascii_lowercase();
        assert_eq!(find(&lower), PageSubject::Alert(*runbook));
        let notification = format!("[FIRING:2] {} olmguard-system (warning)", runbook.alert);
        assert_eq!(find(&notification), PageSubject::Alert(*runbook));
    }
}

#[test]
fn an_exit_code_is_found_by_its_number_alone_or_as_pipelines_print_it() {
    for text in [
        "4",
        "exit 4",
        "Exit code: 4",
        "exit status 4\n",
        "Error: Process completed with exit code 4.",
    ] {
        let page = match find(text) {
            PageSubject::ExitCode(found) => found.page(),
            _ => String::new(),
        };
        assert!(page.starts_with("# Exit code 4\n\n"), "{text}: {page}");
        assert!(page.contains("--on-undecided=warn"), "{page}");
        assert!(!page.contains("\n## "), "{page}");
    }
    for text in ["6", "137", "-4", "4.1", "version 4", "exit"] {
        assert!(
            !matches!(find(text), PageSubject::ExitCode(_)),
            "{text}: {:?}",
            find(text)
        );
    }
}

#[test]
fn a_message_is_found_by_the_token_in_it_however_it_is_wrapped() {
    finds(
        "Error from server (Forbidden): error when patching \"demo.yaml\": admission webhook\n  \
         \"validate.olmguard.dev\" denied the request: p: 1.0.0 -> 1.3.0 refused: 1.3.0 is not a\n\
         successor of 1.0.0 in catalog [hub] [NotASuccessor]\nOLM: no bundles found for package \"p\"",
        Token::NotASuccessor,
    );
}

#[test]
fn texts_of_olm_are_found_by_what_is_always_in_them() {
    for (text, token) in [
        (
            "found bundles for package ... in multiple catalogs",
            Token::AmbiguousCatalogs,
        ),
        (
            "desired catalog selector is invalid: \"Is\" is not a valid label selector operator",
            Token::InvalidSelector,
        ),
        (
            "desired version range \"1.0.0-01\" is invalid: constraint parser error",
            Token::InvalidVersionRange,
        ),
        (
            "error walking catalogs: error getting package \"p\" from catalog \"c\": catalog \"c\" is \
             not being served",
            Token::CatalogNotLoaded,
        ),
        (
            "error walking catalogs: error finding upgrade edges: failed to get version and release \
             of installed bundle: No Major.Minor.Patch elements found",
            Token::InstalledVersionInvalid,
        ),
        (
            "error getting resolved bundle version for bundle \"b\": No Major.Minor.Patch",
            Token::BundleVersionInvalid,
        ),
        (
            "validating bundle \"b\": bundle \"b\" has a dependency declared via property \"x\" which is \
             currently not supported",
            Token::UnsupportedDependency,
        ),
        ("retrying to get installed bundle", Token::InstalledUnknown),
        (
            "The ClusterExtension \"a\" is invalid: spec.source.catalog.version: Invalid value: \
             \"string\": invalid version expression",
            Token::InvalidSpec,
        ),
    ] {
        finds(text, token);
    }
}

#[test]
fn what_olm_says_of_several_causes_leaves_as_few_open_as_it_can() {
    use Token::{
        ChannelNotFound, Downgrade, NoCatalogs, NotASuccessor, NotInChannel, PackageNotFound,
        VersionNotFound,
    };
    leaves_open(
        "no bundles found for package \"p\" matching version \"1\"",
        &[VersionNotFound, PackageNotFound, NoCatalogs],
    );
    leaves_open(
        "error upgrading from currently installed version \"1.0.0\": no bundles found for package \
         \"p\" matching version \"1.3.0\"",
        &[
            NotASuccessor,
            Downgrade,
            VersionNotFound,
            PackageNotFound,
            NoCatalogs,
        ],
    );
    leaves_open(
        "no bundles found for package \"p\" in channels [stable]",
        &[
            VersionNotFound,
            NotInChannel,
            ChannelNotFound,
            PackageNotFound,
            NoCatalogs,
        ],
    );
    leaves_open(
        "no bundles found for package",
        &[
            NotASuccessor,
            Downgrade,
            VersionNotFound,
            NotInChannel,
            ChannelNotFound,
            PackageNotFound,
            NoCatalogs,
        ],
    );
}

#[test]
fn a_slip_finds_what_is_near() {
    assert_eq!(
        find("notasucessor"),
        PageSubject::Nothing(vec!["NotASuccessor"])
    );
    assert_eq!(
        find("Invalid"),
        PageSubject::Nothing(vec![
            "InvalidSpec",
            "InvalidSelector",
            "InvalidVersionRange"
        ])
    );
    assert_eq!(
        find("OlmguardCatalogStail"),
        PageSubject::Nothing(vec![
            "OlmguardCatalogStale",
            "OlmguardCatalogEmpty",
            "OlmguardCatalogShrunk"
        ])
    );
    assert_eq!(find("the weather"), PageSubject::Nothing(Vec::new()));
}

#[test]
fn a_text_of_any_length_is_looked_at_from_its_beginning() {
    let long = "ä".repeat(1 << 20);
    assert_eq!(
        find(&format!("[Downgrade] {long}")),
        PageSubject::Token(Token::Downgrade)
    );
    assert_eq!(
        find(&format!("{long} [Downgrade]")),
        PageSubject::Nothing(Vec::new())
    );
}

#[test]
fn each_page_begins_with_its_token_and_what_it_means() {
    for token in Token::ALL {
        let title = format!("# {}\n\n", token.as_str());
        assert!(page(token).starts_with(&title), "{token:?}");
        let summary = summary(token);
        assert!(
            summary.len() > 40 && !summary.contains('\n'),
            "{token:?}: {summary}"
        );
    }
}

#[test]
fn several_causes_are_told_with_what_each_means() {
    assert_eq!(
        several(&[Token::NotASuccessor, Token::PackageNotFound]),
        "OLM reports this text for several causes. Run `olmguard check` on the manifest to find the cause.\n\
         `olmguard explain` has a page about each of them:\n\
         \n\
         NotASuccessor\n  \
         The catalog has bundles in the range, but no upgrade edge from the installed bundle to any of \
         them.\n\
         \n\
         PackageNotFound\n  \
         No selected catalog has the package. A selected catalog is a ClusterCatalog that matches \
         `spec.source.catalog.selector` and whose `availabilityMode` is not `Unavailable`.\n"
    );
}
