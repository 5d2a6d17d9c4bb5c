// Package validation validates nothing.
package validation

type Error struct{}

func (*Error) Error() string { return "" }

type Validator struct{}

func NewClusterPhaseValidator(...any) Validator { return Validator{} }
func NewRevisionValidator() Validator           { return Validator{} }
