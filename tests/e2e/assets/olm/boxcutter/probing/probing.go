// Package probing has the probes of a revision, which is not rolled out.
package probing

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type (
	Prober            any
	And               []Prober
	ConditionProbe    struct{ Type, Status string }
	FieldsEqualProbe  struct{ FieldA, FieldB string }
	FieldValueProbe   struct{ FieldPath, Value string }
	GroupKindSelector struct {
		schema.GroupKind
		Prober
	}
	LabelSelector struct {
		labels.Selector
		Prober
	}
	ObservedGenerationProbe struct{ Prober }
)
