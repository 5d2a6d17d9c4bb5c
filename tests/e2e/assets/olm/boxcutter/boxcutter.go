// Package boxcutter stands in for the library of this path, which operator-controller needs to be compiled, and uses
// with the feature gate BoxcutterRuntime. Nothing is rolled out with it.
package boxcutter

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"pkg.package-operator.run/boxcutter/machinery/types"
	"pkg.package-operator.run/boxcutter/ownerhandling"
	"pkg.package-operator.run/boxcutter/probing"
)

const ProgressProbeType = "Progress"

type (
	Phase                   = types.Phase
	RevisionBuilder         = types.Revision
	RevisionReconcileOption = types.RevisionReconcileOption
	WithCollisionProtection string
)

func NewPhase(name string, objects []client.Object) Phase {
	return types.Phase{Name: name, Objects: objects}
}

func NewRevisionWithOwner(_ string, _ int64, phases []Phase, _ client.Object, _ *ownerhandling.Native) RevisionBuilder {
	return types.Revision{Phases: phases}
}

func WithSiblingOwners([]client.Object) RevisionReconcileOption  { return nil }
func WithProbe(string, probing.Prober) RevisionReconcileOption   { return nil }
func WithAggregatePhaseReconcileErrors() RevisionReconcileOption { return nil }
func WithObjectReconcileOptions(client.Object, ...WithCollisionProtection) RevisionReconcileOption {
	return nil
}
