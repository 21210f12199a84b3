// A KRM function made with the krm-functions-sdk, to measure beside set-package-context: it does nothing,
// or, with the argument "one-key", sets a key in the package context.
package main

import (
	"context"
	"os"

	"github.com/kptdev/krm-functions-sdk/go/fn"
)

type function struct {
	oneKey bool
}

func (f function) Run(_ *fn.Context, _ *fn.KubeObject, items fn.KubeObjects, results *fn.Results) bool {
	if !f.oneKey {
		return true
	}
	for _, item := range items {
		if item.GetKind() != "ConfigMap" || item.GetName() != "kptfile.kpt.dev" {
			continue
		}
		if err := item.SetNestedString("eu", "data", "region"); err != nil {
			results.ErrorE(err)
			return false
		}
	}
	return true
}

func main() {
	oneKey := len(os.Args) > 1 && os.Args[1] == "one-key"
	// The runner takes no arguments of its own.
	os.Args = os.Args[:1]
	if err := fn.AsMain(fn.WithContext(context.Background(), function{oneKey})); err != nil {
		os.Exit(1)
	}
}
