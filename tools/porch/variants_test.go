// Changes the package $PACKAGE as the controller of PackageVariants does for $VARIANT, with the objects of $CLUSTER, and writes it to
// $OUT; and prints what becomes of PackageRevisions in 18 states. compare.py copies this file into a clone of Porch.

package packagevariant

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	porchapi "github.com/nephio-project/porch/api/porch/v1alpha1"
	configapi "github.com/nephio-project/porch/api/porchconfig/v1alpha1"
	api "github.com/nephio-project/porch/controllers/packagevariants/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

func testScheme(t *testing.T) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{api.AddToScheme, porchapi.AddToScheme, configapi.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func TestComparePackages(t *testing.T) {
	folder, out := os.Getenv("PACKAGE"), os.Getenv("OUT")
	if folder == "" {
		t.Skip("without PACKAGE")
	}
	var variant api.PackageVariant
	text, err := os.ReadFile(os.Getenv("VARIANT"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &variant); err != nil {
		t.Fatal(err)
	}
	resources := &porchapi.PackageRevisionResources{}
	resources.Name, resources.Namespace = "draft", variant.Namespace
	resources.Spec.Resources = map[string]string{}
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		resources.Spec.Resources[filepath.Base(file)] = string(text)
	}
	objects := []client.Object{resources}
	text, err = os.ReadFile(os.Getenv("CLUSTER"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	server := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(objects...).Build()
	reconciler := &PackageVariantReconciler{Client: server, Reader: server}
	draft := &porchapi.PackageRevision{}
	draft.Name, draft.Namespace = "draft", variant.Namespace
	changed, _, err := reconciler.calculateDraftResources(context.Background(), &variant, draft)
	if err != nil {
		t.Fatal(validatePackageVariant(&variant), err)
	}
	for name, text := range changed.Spec.Resources {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func revision(repository, name, workspace string, number int, lifecycle porchapi.PackageRevisionLifecycle, owner, lock string) *porchapi.PackageRevision {
	revision := &porchapi.PackageRevision{}
	revision.Name, revision.Namespace = repository+"."+name+"."+workspace, "default"
	revision.Spec = porchapi.PackageRevisionSpec{RepositoryName: repository, PackageName: name, WorkspaceName: workspace, Revision: number, Lifecycle: lifecycle}
	if owner != "" {
		revision.OwnerReferences = []metav1.OwnerReference{{APIVersion: "config.porch.kpt.dev/v1alpha1", Kind: "PackageVariant", Name: owner, UID: types.UID(owner)}}
	}
	if lock != "" {
		revision.Status.UpstreamLock = &porchapi.Locator{Git: &porchapi.GitLock{Ref: lock}}
	}
	return revision
}

func TestStates(t *testing.T) {
	const published, draft, proposed = porchapi.PackageRevisionLifecyclePublished, porchapi.PackageRevisionLifecycleDraft, porchapi.PackageRevisionLifecycleProposed
	down := func(workspace string, number int, lifecycle porchapi.PackageRevisionLifecycle, owner, lock string) *porchapi.PackageRevision {
		return revision("down", "d", workspace, number, lifecycle, owner, lock)
	}
	type revisions = []*porchapi.PackageRevision
	for _, state := range []struct {
		name               string
		revision           int
		workspace          string
		adoption, deletion string
		deleted            bool
		down               revisions
	}{
		{name: "revision 2, no workspace", revision: 2},
		{name: "revision 1, workspace ws2", revision: 1, workspace: "ws2"},
		{name: "workspace ws2", workspace: "ws2"},
		{name: "workspace of a draft", workspace: "ws3"},
		{name: "neither"},
		{name: "an unknown workspace", workspace: "nope"},
		{name: "an upgrade of a published revision", workspace: "ws2", down: revisions{down("packagevariant-1", 1, published, "me", "foo/v1")}},
		{name: "an upgrade of a draft", workspace: "ws2", down: revisions{down("packagevariant-1", 0, draft, "me", "foo/v1")}},
		{name: "an upgrade of a proposed revision", workspace: "ws2", down: revisions{down("packagevariant-1", 0, proposed, "me", "foo/v1")}},
		{name: "a proposed revision", workspace: "ws2", down: revisions{down("packagevariant-1", 0, proposed, "me", "foo/v2")}},
		{name: "a published revision without a lock", workspace: "ws2", down: revisions{down("packagevariant-1", 1, published, "me", "")}},
		{name: "no owner, adoptNone", workspace: "ws2", down: revisions{down("v1", 1, published, "", "foo/v2")}},
		{name: "no owner, adoptExisting", workspace: "ws2", adoption: "adoptExisting", down: revisions{down("v1", 1, published, "", "foo/v2"), down("v2", 2, published, "", "foo/v2")}},
		{name: "another owner, adoptExisting", workspace: "ws2", adoption: "adoptExisting", down: revisions{down("v1", 1, published, "other", "foo/v2")}},
		{name: "deleted", workspace: "ws2", deleted: true, down: revisions{down("packagevariant-1", 1, published, "me", "foo/v2"), down("packagevariant-2", 0, draft, "me", "foo/v2"), down("packagevariant-3", 0, proposed, "me", "foo/v2")}},
		{name: "deleted, orphan", workspace: "ws2", deletion: "orphan", deleted: true, down: revisions{down("packagevariant-1", 1, published, "me", "foo/v2"), down("packagevariant-2", 0, draft, "me", "foo/v2")}},
		{name: "now targets another package", workspace: "ws2", down: revisions{revision("down", "old", "packagevariant-1", 1, published, "me", "foo/v2"), revision("down", "old", "packagevariant-2", 0, draft, "me", "foo/v2")}},
		{name: "targets a revision proposed for deletion", workspace: "ws2", down: revisions{down("packagevariant-1", 1, porchapi.PackageRevisionLifecycleDeletionProposed, "me", "foo/v2")}},
	} {
		variant := &api.PackageVariant{}
		variant.Name, variant.Namespace, variant.UID, variant.Finalizers = "me", "default", "me", []string{api.Finalizer}
		if state.deleted {
			now := metav1.Now()
			variant.DeletionTimestamp = &now
		}
		variant.Spec = api.PackageVariantSpec{
			Upstream:       &api.Upstream{Repo: "up", Package: "foo", Revision: state.revision, WorkspaceName: state.workspace},
			Downstream:     &api.Downstream{Repo: "down", Package: "d"},
			AdoptionPolicy: api.AdoptionPolicy(state.adoption), DeletionPolicy: api.DeletionPolicy(state.deletion),
		}
		objects := []client.Object{variant, revision("up", "foo", "ws1", 1, published, "", ""), revision("up", "foo", "ws2", 2, published, "", ""), revision("up", "foo", "main", -1, published, "", ""), revision("up", "foo", "ws3", 0, draft, "", "")}
		for _, revision := range state.down {
			objects = append(objects, revision, resourcesOf(revision))
		}
		// As the Porch server does: a new PackageRevision gets a name and resources.
		create := func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if created, ok := object.(*porchapi.PackageRevision); ok {
				created.Name = created.Spec.RepositoryName + "." + created.Spec.PackageName + "." + created.Spec.WorkspaceName
				if err := server.Create(ctx, resourcesOf(created)); err != nil {
					return err
				}
			}
			return server.Create(ctx, object, options...)
		}
		server := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(objects...).WithStatusSubresource(variant).
			WithInterceptorFuncs(interceptor.Funcs{Create: create}).Build()
		reconciler := &PackageVariantReconciler{Client: server, Reader: server}
		_, err := reconciler.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(variant)})
		fmt.Printf("%s: error %v\n", state.name, err)
		var list porchapi.PackageRevisionList
		if err := server.List(context.Background(), &list); err != nil {
			t.Fatal(err)
		}
		for _, revision := range list.Items {
			if revision.Spec.RepositoryName == "down" {
				print(revision)
			}
		}
	}
}

func resourcesOf(revision *porchapi.PackageRevision) *porchapi.PackageRevisionResources {
	resources := &porchapi.PackageRevisionResources{}
	resources.Name, resources.Namespace = revision.Name, revision.Namespace
	resources.Spec.Resources = map[string]string{"Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\n"}
	return resources
}

func print(revision porchapi.PackageRevision) {
	fmt.Printf("  %s %s %s", revision.Spec.PackageName, revision.Spec.WorkspaceName, revision.Spec.Lifecycle)
	for _, owner := range revision.OwnerReferences {
		fmt.Printf(" owner %s", owner.UID)
	}
	for _, task := range revision.Spec.Tasks {
		if task.Clone != nil {
			fmt.Printf(" clone %s", task.Clone.Upstream.UpstreamRef.Name)
		}
		if task.Upgrade != nil {
			fmt.Printf(" upgrade %s to %s, %s", task.Upgrade.OldUpstream.Name, task.Upgrade.NewUpstream.Name, task.Upgrade.Strategy)
		}
	}
	fmt.Println()
}
