#!/usr/bin/env bash
# Builds the webhook, runs it beside a server, and shows that it is asked: needs Go, openssl and kubectl.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program="$here/../../../dist/plinth.js"
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

echo "building"
(cd "$here" && go build -o "$work/webhook" .)
mkdir "$work/certs"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=webhook \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$work/certs/tls.key" -out "$work/certs/tls.crt" 2>/dev/null
port=$(free_port)
"$work/webhook" --port "$port" --cert-dir "$work/certs" 2>"$work/webhook.log" &
pids+=($!)

api=$(free_port)
node "$program" serve --data-dir "$work/data" --secure-port "$api" --vocabulary kubernetes --log-level warn >"$work/server.log" 2>&1 &
pids+=($!)
export KUBECONFIG="$work/data/admin.kubeconfig"
for _ in $(seq 100); do kubectl get --raw /readyz >/dev/null 2>&1 && break || sleep 0.1; done

kubectl apply -f - <<EOT
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: check-pods }
webhooks:
  - name: check.pods.example.com
    clientConfig:
      url: https://127.0.0.1:$port/check
      caBundle: $(base64 -w0 <"$work/certs/tls.crt")
    rules: [{ operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods] }]
    sideEffects: None
    admissionReviewVersions: [v1]
EOT

pod() { printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"app","image":"%s"}]}}' "$1" "$2"; }
if pod bad example.com/app:latest | kubectl create -f - 2>"$work/refused"; then
  echo "the pod was not refused" >&2
  exit 1
fi
grep -q 'admission webhook "check.pods.example.com" denied the request: container app runs example.com/app:latest' "$work/refused"
pod good example.com/app:1 | kubectl create -f - 2>"$work/warned"
grep -q 'checked by a webhook in Go' "$work/warned"
echo "the webhook was asked: one pod was refused, one was created with a warning"
