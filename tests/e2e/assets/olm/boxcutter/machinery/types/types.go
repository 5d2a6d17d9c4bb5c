// Package types has what is given to the library.
package types

import "sigs.k8s.io/controller-runtime/pkg/client"

type Phase struct {
	Name    string
	Objects []client.Object
}

func (p Phase) GetObjects() []client.Object { return p.Objects }

type Revision struct{ Phases []Phase }

func (r Revision) GetPhases() []Phase { return r.Phases }

type (
	RevisionReconcileOption any
	RevisionTeardownOption  any
	ProbeStatus             string
)

const ProbeStatusTrue ProbeStatus = "True"

type ProbeResult struct {
	Status   ProbeStatus
	Messages []string
}
