module olmguard.dev/benches/resolver

go 1.26.3

require github.com/operator-framework/operator-controller v1.11.0
