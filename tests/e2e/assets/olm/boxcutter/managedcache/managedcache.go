// Package managedcache watches nothing: what an extension has installed is not looked at again until the extension
// changes.
package managedcache

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type TrackingCache interface {
	client.Reader
	Start(context.Context) error
	Source(handler.EventHandler, ...predicate.Predicate) source.Source
	Watch(context.Context, client.Object, sets.Set[schema.GroupVersionKind]) error
	Free(context.Context, client.Object) error
}

type none struct{ client.Reader }

func NewTrackingCache(logr.Logger, *rest.Config, cache.Options) (TrackingCache, error) {
	return none{}, nil
}

func (none) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (none) Source(handler.EventHandler, ...predicate.Predicate) source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		return nil
	})
}

func (none) Watch(context.Context, client.Object, sets.Set[schema.GroupVersionKind]) error {
	return nil
}

func (none) Free(context.Context, client.Object) error { return nil }
