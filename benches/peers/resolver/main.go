// Resolver answers as operator-controller's resolver does, and prints how long that took.
//
// It is compiled inside a copy of operator-controller's module, because its resolver is internal to that.
//
// The argument is a file with a catalog. Each line of standard input is a turn: how often to call, and with which
// requests. Each answer is a line: the nanoseconds of all calls, and the bundle of each request, null without one.
// Reading the catalog is not timed: a call gets a copy of its package, because the resolver changes what it gets.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/operator-framework/operator-controller/internal/operator-controller/resolve"
)

type turn struct {
	Calls    int       `json:"calls"`
	Requests []request `json:"requests"`
}

type request struct {
	Package   string     `json:"package"`
	Version   string     `json:"version"`
	Channel   string     `json:"channel"`
	Installed *[2]string `json:"installed"`
}

type answer struct {
	Nanoseconds int64     `json:"nanoseconds"`
	Bundles     []*string `json:"bundles"`
}

// question is a request as the resolver takes it.
type question struct {
	extension *ocv1.ClusterExtension
	installed *ocv1.BundleMetadata
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: resolver CATALOG")
	}
	catalog, err := declcfg.LoadFile(os.DirFS("/"), os.Args[1][1:])
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(&catalogs{content: catalog}); err != nil {
		log.Fatal(err)
	}
}

func serve(catalogs *catalogs) error {
	resolver := &resolve.CatalogResolver{
		WalkCatalogsFunc: resolve.CatalogWalker(catalogs.list, catalogs.getPackage),
		Validations:      []resolve.ValidationFunc{resolve.NoDependencyValidation},
	}
	ctx := ctrllog.IntoContext(context.Background(), logr.Discard())
	decoder, encoder := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for decoder.More() {
		var turn turn
		if err := decoder.Decode(&turn); err != nil {
			return fmt.Errorf("a turn cannot be read: %w", err)
		}
		if err := encoder.Encode(turn.take(ctx, resolver)); err != nil {
			return err
		}
	}
	return nil
}

func (t turn) take(ctx context.Context, resolver *resolve.CatalogResolver) answer {
	var questions []question
	for _, request := range t.Requests {
		questions = append(questions, request.question())
	}
	bundles := make([]*string, len(questions))
	began := time.Now()
	for range t.Calls {
		for at, question := range questions {
			bundle, _, _, err := resolver.Resolve(ctx, question.extension, question.installed)
			if err == nil {
				bundles[at] = &bundle.Name
			}
		}
	}
	return answer{time.Since(began).Nanoseconds(), bundles}
}

func (r request) question() question {
	source := &ocv1.CatalogFilter{PackageName: r.Package, Version: r.Version}
	if r.Channel != "" {
		source.Channels = []string{r.Channel}
	}
	extension := &ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ext"}}
	extension.Spec.Source = ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: source}
	if r.Installed == nil {
		return question{extension, nil}
	}
	return question{extension, &ocv1.BundleMetadata{Name: r.Installed[0], Version: r.Installed[1]}}
}

// catalogs is the one catalog.
type catalogs struct {
	content *declcfg.DeclarativeConfig
}

func (c *catalogs) list(context.Context, ...client.ListOption) ([]ocv1.ClusterCatalog, error) {
	return []ocv1.ClusterCatalog{{ObjectMeta: metav1.ObjectMeta{Name: "cat"}}}, nil
}

func (c *catalogs) getPackage(_ context.Context, _ *ocv1.ClusterCatalog, name string) (*declcfg.DeclarativeConfig, error) {
	if !slices.ContainsFunc(c.content.Packages, func(one declcfg.Package) bool { return one.Name == name }) {
		return &declcfg.DeclarativeConfig{}, nil
	}
	return &declcfg.DeclarativeConfig{
		Packages:     c.content.Packages,
		Channels:     slices.Clone(c.content.Channels),
		Bundles:      slices.Clone(c.content.Bundles),
		Deprecations: c.content.Deprecations,
	}, nil
}
