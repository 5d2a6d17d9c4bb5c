// Package ownerhandling owns nothing.
package ownerhandling

import "k8s.io/apimachinery/pkg/runtime"

type Native struct{}

func NewNative(*runtime.Scheme) *Native { return &Native{} }
