// Package machinery rolls nothing out: each revision fails.
package machinery

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"pkg.package-operator.run/boxcutter/machinery/types"
	"pkg.package-operator.run/boxcutter/validation"
)

type Action string

const ActionCollision Action = "Collision"

type RevisionResult interface {
	GetPhases() []PhaseResult
	GetValidationError() *validation.Error
	InTransition() bool
	IsComplete() bool
	String() string
}

type PhaseResult interface {
	GetObjects() []ObjectResult
	GetValidationError() *validation.Error
	IsComplete() bool
}

type ObjectResult interface {
	Action() Action
	Object() client.Object
	ProbeResults() map[string]types.ProbeResult
	String() string
}

type RevisionTeardownResult interface{ IsComplete() bool }

type Engine struct{}

var errStandIn = errors.New("this operator-controller is compiled without boxcutter")

func (Engine) Reconcile(context.Context, types.Revision, ...types.RevisionReconcileOption) (RevisionResult, error) {
	return nil, errStandIn
}

func (Engine) Teardown(context.Context, types.Revision, ...types.RevisionTeardownOption) (RevisionTeardownResult, error) {
	return nil, errStandIn
}

func NewRevisionEngine(...any) Engine { return Engine{} }
func NewPhaseEngine(...any) Engine    { return Engine{} }
func NewObjectEngine(...any) Engine   { return Engine{} }
func NewComparator(...any) Engine     { return Engine{} }
