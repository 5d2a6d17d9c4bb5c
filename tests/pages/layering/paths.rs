//! All paths in a Rust text, in `use` lines and in other code.
//!
//! The text is split into tokens as the compiler does, so comments and strings are ignored. Groups
//! are expanded (`use a::{b, c::d}` is `a::b` and `a::c::d`). A path that starts with `self` or
//! `super` is resolved from the root, as `crate::...`.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree, token_stream};

/// Returns the paths in the text of the module `module`, such as `["catalog", "fbc"]`, in order.
pub(crate) fn paths(text: &str, module: &[&str]) -> Result<Vec<String>, LexError> {
    let mut reader = Reader {
        module: module.iter().map(|&name| name.to_owned()).collect(),
        found: Vec::new(),
    };
    reader.read(text.parse()?, &[]);
    Ok(reader.found)
}

struct Reader {
    module: Vec<String>,
    found: Vec<String>,
}

type Tokens = Peekable<token_stream::IntoIter>;

impl Reader {
    fn read(&mut self, tokens: TokenStream, prefix: &[String]) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(ident) if ident == "mod" => self.read_module(&mut tokens),
                TokenTree::Ident(ident) if KEYWORDS.iter().any(|word| ident == word) => {
                    self.found.push(ident.to_string());
                }
                TokenTree::Ident(ident) => {
                    let mut path = prefix.to_vec();
                    path.push(ident.to_string());
                    self.read_path(path, &mut tokens);
                }
                TokenTree::Group(group) => self.read(group.stream(), &[]),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Reads the body after `mod` as the module of that name.
    fn read_module(&mut self, tokens: &mut Tokens) {
        let Some(TokenTree::Ident(name)) = tokens.next() else {
            return;
        };
        if let Some(TokenTree::Group(body)) = tokens.next_if(|token| braces(token).is_some()) {
            self.module.push(name.to_string());
            self.read(body.stream(), &[]);
            self.module.pop();
        }
    }

    fn read_path(&mut self, mut path: Vec<String>, tokens: &mut Tokens) {
        while skip_separator(tokens) {
            match tokens.peek() {
                Some(TokenTree::Ident(ident)) => {
                    path.push(ident.to_string());
                    tokens.next();
                }
                Some(token) if braces(token).is_some() => {
                    let group = braces(token).map(Group::stream).unwrap_or_default();
                    tokens.next();
                    return self.read(group, &path);
                }
                _ => break,
            }
        }
        self.found.push(self.told_from_root(&path).join("::"));
    }

    /// Resolves a path from the root. `use x::{self}` names `x`, a leading `self` is this module,
    /// and each `super` is one level up.
    fn told_from_root(&self, path: &[String]) -> Vec<String> {
        let names: Vec<_> = path.iter().map(String::as_str).collect();
        let names = match names.as_slice() {
            [names @ .., "self"] if !names.is_empty() => names,
            names => names,
        };
        let ups = names.iter().take_while(|name| **name == "super").count();
        let rest = match names.split_at(ups) {
            (_, ["self", rest @ ..]) => rest,
            ([], names) => return names.iter().map(ToString::to_string).collect(),
            (_, rest) => rest,
        };
        let base = self.module.len().saturating_sub(ups);
        let mut absolute = vec!["crate".to_owned()];
        absolute.extend(self.module.iter().take(base).cloned());
        absolute.extend(rest.iter().map(ToString::to_string));
        absolute
    }
}

/// Skips `::` if it comes next.
fn skip_separator(tokens: &mut Tokens) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
    let mut ahead = tokens.clone();
    let both =
        ahead.next().as_ref().is_some_and(is_colon) && ahead.next().as_ref().is_some_and(is_colon);
    if both {
        *tokens = ahead;
    }
    both
}

fn braces(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Keywords after which `::` starts a path instead of continuing one.
const KEYWORDS: [&str; 16] = [
    "as", "async", "break", "const", "dyn", "else", "extern", "for", "if", "impl", "in", "match",
    "mut", "return", "use", "where",
];
