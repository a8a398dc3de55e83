// Tests in Go with controller-runtime's envtest. KUBEBUILDER_ASSETS is the folder that `plinth envtest` prints:
//
//	KUBEBUILDER_ASSETS=$(npx plinth envtest) go test ./...
package sites

import (
	"context"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var (
	environment *envtest.Environment
	admin       client.Client
)

func TestMain(m *testing.M) {
	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{"../manifests/definition.yaml"},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		panic(err)
	}
	if admin, err = client.New(config, client.Options{}); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := environment.Stop(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func site(name, title string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Site",
		"metadata":   map[string]any{"name": name, "namespace": "default"},
		"spec":       map[string]any{"title": title},
	}}
}

func TestASiteNeedsATitle(t *testing.T) {
	ctx := context.Background()
	if err := admin.Create(ctx, site("tea", "Tea")); err != nil {
		t.Fatal(err)
	}
	err := admin.Create(ctx, site("empty", ""))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.title") {
		t.Fatalf("got %v, expected an invalid spec.title", err)
	}
}

func TestAStaleUpdateIsAConflict(t *testing.T) {
	ctx := context.Background()
	object := site("coffee", "Coffee")
	if err := admin.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
	stale := object.DeepCopy()
	unstructured.SetNestedField(object.Object, "Black coffee", "spec", "title")
	if err := admin.Update(ctx, object); err != nil {
		t.Fatal(err)
	}
	if err := admin.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Fatalf("got %v, expected a conflict", err)
	}
}

func TestAUserHasTheRightsOfTheRole(t *testing.T) {
	ctx := context.Background()
	user, err := environment.AddUser(envtest.User{Name: "devi", Groups: []string{"readers"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	devi, err := client.New(user.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := devi.List(ctx, &corev1.ConfigMapList{}); !apierrors.IsForbidden(err) {
		t.Fatalf("got %v, expected a denied list", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}},
	}
	if err := admin.Create(ctx, binding); err != nil {
		t.Fatal(err)
	}
	if err := devi.List(ctx, &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
}
