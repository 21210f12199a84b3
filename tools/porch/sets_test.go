// Reconciles the PackageVariantSets in the YAML files of $IN, and writes the PackageVariants to $OUT: ../compare.py copies this file
// into a clone of Porch.

package packagevariantset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	porchapi "github.com/nephio-project/porch/api/porch/v1alpha1"
	configapi "github.com/nephio-project/porch/api/porchconfig/v1alpha1"
	pkgvarapi "github.com/nephio-project/porch/controllers/packagevariants/api/v1alpha1"
	api "github.com/nephio-project/porch/controllers/packagevariantsets/api/v1alpha2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

func TestCompareSets(t *testing.T) {
	in, out := os.Getenv("IN"), os.Getenv("OUT")
	if in == "" {
		t.Skip("without IN")
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{api.AddToScheme, pkgvarapi.AddToScheme, porchapi.AddToScheme, configapi.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var objects []client.Object
	var sets []client.ObjectKey
	files, _ := filepath.Glob(filepath.Join(in, "*.yaml"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(text), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				t.Fatal(file, err)
			}
			if object.Object == nil {
				continue
			}
			if object.GetNamespace() == "" {
				object.SetNamespace("default")
			}
			kind := object.GroupVersionKind()
			if kind.Kind == "PackageVariantSet" {
				sets = append(sets, client.ObjectKeyFromObject(object))
			}
			if !scheme.Recognizes(kind) {
				objects = append(objects, object)
				continue
			}
			typed, err := scheme.New(kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
				fmt.Println("NotConverted", object.GetName(), err)
				continue
			}
			objects = append(objects, typed.(client.Object))
		}
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&api.PackageVariantSet{}).Build()
	reconciler := &PackageVariantSetReconciler{Client: server, Reader: server}
	for _, key := range sets {
		_, err := reconciler.Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
		var set api.PackageVariantSet
		_ = server.Get(context.Background(), key, &set)
		for _, condition := range set.Status.Conditions {
			fmt.Println("Condition", condition.Type, condition.Status, condition.Reason, condition.Message, err)
		}
	}
	var variants pkgvarapi.PackageVariantList
	if err := server.List(context.Background(), &variants); err != nil {
		t.Fatal(err)
	}
	for _, variant := range variants.Items {
		text, err := yaml.Marshal(variant)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(variant.Name, "/", "%") + ".yaml"
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
