package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

func widget(name string, spec map[string]any) *unstructured.Unstructured {
	made := object(group+"/v1", "Widget", name, spec)
	made.SetNamespace(namespace)
	return made
}

func dynamicClient(ctx context.Context, all *clients) error {
	client := all.dynamic.Resource(widgets).Namespace(namespace)
	made, err := client.Create(ctx, widget("dynamic", map[string]any{"size": int64(3), "unknown": "x"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if color, _, _ := unstructured.NestedString(made.Object, "spec", "color"); color != "red" {
		return fmt.Errorf("the default: %v", made.Object["spec"])
	}
	if _, found, _ := unstructured.NestedFieldNoCopy(made.Object, "spec", "unknown"); found {
		return fmt.Errorf("an unknown field was kept")
	}
	if _, err = client.Create(ctx, widget("large", map[string]any{"size": int64(11)}), metav1.CreateOptions{}); !errors.IsInvalid(err) {
		return fmt.Errorf("a size above the maximum: %v", err)
	}
	if _, err = client.Patch(ctx, "dynamic", types.MergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	applied := widget("dynamic", map[string]any{"color": "blue"})
	forced := metav1.ApplyOptions{FieldManager: "program", Force: true}
	live, err := client.Apply(ctx, "dynamic", applied, forced)
	if err != nil {
		return err
	}
	size, _, _ := unstructured.NestedInt64(live.Object, "spec", "size")
	color, _, _ := unstructured.NestedString(live.Object, "spec", "color")
	if size != 4 || color != "blue" || live.GetGeneration() != 3 {
		return fmt.Errorf("after patch and apply: %v, generation %d", live.Object["spec"], live.GetGeneration())
	}
	return client.Delete(ctx, "dynamic", metav1.DeleteOptions{})
}

func dynamicInformer(ctx context.Context, all *clients) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(all.dynamic, 0, namespace, nil)
	informer := factory.ForResource(widgets).Informer()
	var added, deleted atomic.Int32
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer is not in sync")
	}
	client := all.dynamic.Resource(widgets).Namespace(namespace)
	if _, err := client.Create(ctx, widget("informed", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := client.Delete(ctx, "informed", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) { return added.Load() == 1 && deleted.Load() == 1, nil })
}
