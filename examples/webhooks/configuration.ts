// What tells a server of the webhook: two objects, one for each half.
const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];

/** @param url where the webhook is served; @param ca the authority of its certificate (PEM). */
export function configurations(url: string, ca: string): object[] {
  const caBundle = Buffer.from(ca).toString("base64");
  const common = { rules, sideEffects: "None", admissionReviewVersions: ["v1"], timeoutSeconds: 5 };
  const apiVersion = "admissionregistration.platform.io/v1";
  const webhook = (name: string, path: string) => ({
    ...common,
    name: `${name}.pods.example.com`,
    clientConfig: { url: `${url}${path}`, caBundle },
  });
  return [
    {
      apiVersion,
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "label-pods" },
      webhooks: [{ ...webhook("label", "/label"), reinvocationPolicy: "IfNeeded" }],
    },
    {
      apiVersion,
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "check-pods" },
      webhooks: [webhook("check", "/check")],
    },
  ];
}
