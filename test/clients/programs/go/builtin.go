package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func typedClient(ctx context.Context, all *clients) error {
	return lifeOfConfigMap(ctx, all.typed, "typed")
}

func binaryClient(ctx context.Context, all *clients) error {
	return lifeOfConfigMap(ctx, all.binary, "binary")
}

func lifeOfConfigMap(ctx context.Context, client *kubernetes.Clientset, name string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, configMap(name, "1"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Create(ctx, configMap(name, "1"), metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		return fmt.Errorf("a second create: %v", err)
	}
	watching, err := maps.Watch(ctx, metav1.ListOptions{
		ResourceVersion: made.ResourceVersion, FieldSelector: "metadata.name=" + name,
	})
	if err != nil {
		return err
	}
	defer watching.Stop()
	made.Data["a"] = "2"
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if _, err = maps.Update(ctx, made, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("an update of an old version: %v", err)
	}
	event := <-watching.ResultChan()
	if seen, isMap := event.Object.(*corev1.ConfigMap); !isMap || seen.ResourceVersion != updated.ResourceVersion {
		return fmt.Errorf("the watch gave %v %v", event.Type, event.Object)
	}
	if _, err = maps.Patch(ctx, name, types.StrategicMergePatchType, []byte(`{"data":{"b":"3"}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=" + name, Limit: 1})
	if err != nil {
		return err
	}
	if len(list.Items) != 1 || list.Items[0].Data["a"] != "2" || list.Items[0].Data["b"] != "3" {
		return fmt.Errorf("listed: %v", list.Items)
	}
	if err = maps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err = maps.Get(ctx, name, metav1.GetOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("a get of what was deleted: %v", err)
	}
	return nil
}

func configMap(name, value string) *corev1.ConfigMap {
	labels := map[string]string{"app": name}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": value},
	}
}

func informers(ctx context.Context, all *clients) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := kubeinformers.NewSharedInformerFactoryWithOptions(all.binary, 0, kubeinformers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var added, updated, deleted atomic.Int32
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer is not in sync")
	}
	before := added.Load()
	maps := all.typed.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, configMap("informed", "1"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["a"] = "2"
	if _, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "informed", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		return added.Load() == before+1 && updated.Load() == 1 && deleted.Load() == 1, nil
	})
}

func apply(ctx context.Context, all *clients) error {
	maps := all.typed.CoreV1().ConfigMaps(namespace)
	first := applycore.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1"})
	if _, err := maps.Apply(ctx, first, metav1.ApplyOptions{FieldManager: "first"}); err != nil {
		return err
	}
	second := applycore.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	if _, err := maps.Apply(ctx, second, metav1.ApplyOptions{FieldManager: "second"}); !errors.IsConflict(err) {
		return fmt.Errorf("an apply of another manager's field: %v", err)
	}
	if _, err := maps.Apply(ctx, second, metav1.ApplyOptions{FieldManager: "second", Force: true}); err != nil {
		return err
	}
	live, err := maps.Get(ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	owned, err := applycore.ExtractConfigMap(live, "second")
	if err != nil {
		return err
	}
	if owned.Data["a"] != "2" {
		return fmt.Errorf("extracted: %v", owned.Data)
	}
	return nil
}

func leaderElection(ctx context.Context, all *clients) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	leading := make(chan string, 2)
	elect := func(ctx context.Context, identity string) error {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, "leader",
			all.typed.CoreV1(), all.typed.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
		if err != nil {
			return err
		}
		go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- identity },
				OnStoppedLeading: func() {},
			},
		})
		return nil
	}
	firstContext, resign := context.WithCancel(ctx)
	defer resign()
	if err := elect(firstContext, "first"); err != nil {
		return err
	}
	if err := isLeader(ctx, leading, "first"); err != nil {
		return err
	}
	if err := elect(ctx, "second"); err != nil {
		return err
	}
	select {
	case who := <-leading:
		return fmt.Errorf("%s leads beside the first", who)
	case <-time.After(time.Second):
	}
	resign()
	return isLeader(ctx, leading, "second")
}

func isLeader(ctx context.Context, leading <-chan string, identity string) error {
	select {
	case who := <-leading:
		if who != identity {
			return fmt.Errorf("%s leads, not %s", who, identity)
		}
		return nil
	case <-time.After(20 * time.Second):
		return fmt.Errorf("%s does not lead within 20 seconds", identity)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openAPI reads the document that older versions of kubectl validate with; the client decodes its binary form.
func openAPI(_ context.Context, all *clients) error {
	document, err := all.typed.Discovery().OpenAPISchema()
	if err != nil {
		return err
	}
	for _, path := range document.GetPaths().GetPath() {
		if path.GetName() == "/api/v1/namespaces/{namespace}/configmaps" {
			return nil
		}
	}
	return fmt.Errorf("the document has no path of config maps")
}
