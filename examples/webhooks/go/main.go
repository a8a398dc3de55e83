// An admission webhook with controller-runtime: no pod runs an image of the tag `latest`.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type checkPods struct {
	decoder admission.Decoder
}

// Handle answers one review.
func (c *checkPods) Handle(_ context.Context, request admission.Request) admission.Response {
	pod := &corev1.Pod{}
	if err := c.decoder.Decode(request, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	for _, container := range pod.Spec.Containers {
		if strings.HasSuffix(container.Image, ":latest") {
			return admission.Denied(fmt.Sprintf("container %s runs %s", container.Name, container.Image))
		}
	}
	return admission.Allowed("").WithWarnings("checked by a webhook in Go")
}

func main() {
	port := flag.Int("port", 9443, "port on loopback")
	certificates := flag.String("cert-dir", "", "folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail(err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates})
	server.Register("/check", &webhook.Admission{Handler: &checkPods{decoder: admission.NewDecoder(scheme)}})
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
