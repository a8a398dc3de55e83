// A program over client-go and controller-runtime, as operators are: each check uses one part of the libraries
// unchanged against a server of a kubeconfig. It ends with 1 where one of them fails.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	namespace = "programs"
	group     = "programs.example.com"
)

var (
	widgets     = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	widgetKind  = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}
	definitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
)

// clients are what the checks work with.
type clients struct {
	config  *rest.Config
	typed   *kubernetes.Clientset
	binary  *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
}

type check struct {
	name string
	run  func(context.Context, *clients) error
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	all, err := open(os.Getenv("KUBECONFIG"))
	if err == nil {
		err = prepare(ctx, all)
	}
	if err != nil {
		fmt.Println("FAILED preparation:", err)
		os.Exit(1)
	}
	failed := 0
	checks := []check{
		{"typed client", typedClient},
		{"typed client in the binary form", binaryClient},
		{"informers", informers},
		{"apply", apply},
		{"leader election", leaderElection},
		{"dynamic client with a custom kind", dynamicClient},
		{"dynamic informer of a custom kind", dynamicInformer},
		{"OpenAPI v2 in the binary form", openAPI},
	}
	for _, one := range append(checks, operatorChecks...) {
		begun := time.Now()
		if err := one.run(ctx, all); err != nil {
			failed++
			fmt.Printf("FAILED %s: %v\n", one.name, err)
			continue
		}
		fmt.Printf("ok %s (%d ms)\n", one.name, time.Since(begun).Milliseconds())
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func open(kubeconfig string) (*clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	binaryConfig := rest.CopyConfig(config)
	binaryConfig.ContentType = "application/vnd.kubernetes.protobuf"
	binaryConfig.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
	all := &clients{config: config}
	if all.typed, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if all.binary, err = kubernetes.NewForConfig(binaryConfig); err != nil {
		return nil, err
	}
	all.dynamic, err = dynamic.NewForConfig(config)
	return all, err
}

// prepare makes the namespace and the custom kind, and waits until that is served.
func prepare(ctx context.Context, all *clients) error {
	spaces := all.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if _, err := spaces.Create(ctx, object("v1", "Namespace", namespace, nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	text := map[string]any{"type": "string"}
	schemaOf := map[string]any{"type": "object", "properties": map[string]any{
		"spec": map[string]any{"type": "object", "properties": map[string]any{
			"color": map[string]any{"type": "string", "default": "red"},
			"size":  map[string]any{"type": "integer", "maximum": int64(10)},
		}},
		"status": map[string]any{"type": "object", "properties": map[string]any{"seen": text}},
	}}
	spec := map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"plural": "widgets", "kind": "Widget", "singular": "widget", "listKind": "WidgetList"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"schema":       map[string]any{"openAPIV3Schema": schemaOf},
			"subresources": map[string]any{"status": map[string]any{}},
		}},
	}
	definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets."+group, spec)
	if _, err := all.dynamic.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		_, err := all.dynamic.Resource(widgets).Namespace(namespace).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

func object(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	members := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	if spec != nil {
		members["spec"] = spec
	}
	return &unstructured.Unstructured{Object: members}
}

// eventually asks until the answer is yes.
func eventually(ctx context.Context, ask func() (bool, error)) error {
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		done, err := ask()
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("it did not happen within 20 seconds")
}
