// A program over controller-runtime's envtest, as suites of operators are. It starts and stops the control plane of
// KUBEBUILDER_ASSETS several times and prints how long that takes. It exits with 1 if a check fails.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const rounds = 5

func main() {
	log.SetLogger(logr.Discard())
	for range rounds {
		if err := round(); err != nil {
			fmt.Println("FAILED", err)
			os.Exit(1)
		}
	}
}

// round starts a control plane, uses it as a suite does, and stops it.
func round() error {
	environment := &envtest.Environment{}
	begin := time.Now()
	config, err := environment.Start()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	started := time.Since(begin)
	begin = time.Now()
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		CRDs: []*apiextensions.CustomResourceDefinition{definition()},
	})
	installed := time.Since(begin)
	if err == nil {
		err = use(environment, config)
	}
	begin = time.Now()
	if stop := environment.Stop(); err == nil && stop != nil {
		err = fmt.Errorf("stop: %w", stop)
	}
	fmt.Printf("ok start %d ms, definition %d ms, stop %d ms\n",
		started.Milliseconds(), installed.Milliseconds(), time.Since(begin).Milliseconds())
	return err
}

// use creates a custom object, asks as a user without rights, and deletes a namespace.
func use(environment *envtest.Environment, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	admin, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "suite"}}
	if err := admin.Create(ctx, namespace); err != nil {
		return err
	}
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "envtest.example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": "one", "namespace": namespace.Name},
		"spec":       map[string]any{"size": int64(3)},
	}}
	if err := admin.Create(ctx, widget); err != nil {
		return err
	}
	user, err := environment.AddUser(envtest.User{Name: "mara"}, nil)
	if err != nil {
		return err
	}
	restricted, err := client.New(user.Config(), client.Options{})
	if err != nil {
		return err
	}
	err = restricted.Get(ctx, client.ObjectKeyFromObject(namespace), &corev1.Namespace{})
	if err == nil || client.IgnoreNotFound(err) == nil {
		return fmt.Errorf("a user without roles reads a namespace: %v", err)
	}
	if err := admin.Delete(ctx, namespace); err != nil {
		return err
	}
	if err := admin.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
		return err
	}
	if namespace.Status.Phase != corev1.NamespaceTerminating {
		return fmt.Errorf("the deleted namespace is %s", namespace.Status.Phase)
	}
	return nil
}

func definition() *apiextensions.CustomResourceDefinition {
	preserve := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.envtest.example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "envtest.example.com",
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
			},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: &preserve,
					},
				},
			}},
		},
	}
}
