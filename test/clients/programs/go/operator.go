//go:build !oldest

package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"
)

// operatorChecks need controller-runtime, which the build with the tag oldest doesn't have.
var operatorChecks = []check{{"controller-runtime: an operator of a custom kind", operator}}

const finalizer = group + "/clean-up"

// keeper puts a finalizer and a status on each widget, and lets it go when it is deleted.
type keeper struct {
	client.Client
	released atomic.Int32
}

func (k *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(widgetKind)
	if err := k.Get(ctx, request.NamespacedName, live); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if live.GetDeletionTimestamp() != nil {
		if controllerutil.RemoveFinalizer(live, finalizer) {
			k.released.Add(1)
			return ctrl.Result{}, client.IgnoreNotFound(k.Update(ctx, live))
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(live, finalizer) {
		return ctrl.Result{}, k.Update(ctx, live)
	}
	color, _, _ := unstructured.NestedString(live.Object, "spec", "color")
	if seen, _, _ := unstructured.NestedString(live.Object, "status", "seen"); seen == color {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(live.Object, color, "status", "seen"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, k.Status().Update(ctx, live)
}

func operator(ctx context.Context, all *clients) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(all.config, ctrl.Options{
		Scheme:  runtime.NewScheme(),
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	reconciler := &keeper{Client: manager.GetClient()}
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(widgetKind)
	if err = ctrl.NewControllerManagedBy(manager).Named("widgets").For(kind).Complete(reconciler); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	widgetsHere := all.dynamic.Resource(widgets).Namespace(namespace)
	if _, err = widgetsHere.Create(ctx, widget("operated", map[string]any{}), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err = seenAs(ctx, all, "red"); err != nil {
		return fmt.Errorf("the status after the create: %w", err)
	}
	patch := []byte(`{"spec":{"color":"green"}}`)
	if _, err = widgetsHere.Patch(ctx, "operated", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	if err = seenAs(ctx, all, "green"); err != nil {
		return fmt.Errorf("the status after the patch: %w", err)
	}
	if err = widgetsHere.Delete(ctx, "operated", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err = eventually(ctx, func() (bool, error) {
		_, err := widgetsHere.Get(ctx, "operated", metav1.GetOptions{})
		return errors.IsNotFound(err), nil
	}); err != nil {
		return fmt.Errorf("the deletion: %w", err)
	}
	if reconciler.released.Load() == 0 {
		return fmt.Errorf("it went without the operator")
	}
	cancel()
	return <-ended
}

func seenAs(ctx context.Context, all *clients, color string) error {
	return eventually(ctx, func() (bool, error) {
		live, err := all.dynamic.Resource(widgets).Namespace(namespace).Get(ctx, "operated", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		seen, _, _ := unstructured.NestedString(live.Object, "status", "seen")
		return seen == color && len(live.GetFinalizers()) == 1, nil
	})
}
