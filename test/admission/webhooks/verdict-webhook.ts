import { patched, TestWebhook, type Review, type WebhookAnswer } from "./support.ts";

/** Annotation in which webhooks record that they were called. */
const calls = "calls";

/**
 * Starts the webhook of the scenarios. The first segment of a path says what it answers: `allow`, `deny`, `append` (the second segment is
 * appended to the annotation `calls`), `priority` (the pod gets this priority class), `owners` (each owner twice), `managers` (invalid managed
 * fields), `fail` (status 500), `broken` (no review) or `warn`.
 */
export async function startVerdictWebhook(): Promise<TestWebhook> {
  const webhook = await TestWebhook.start();
  webhook.answer = answerOf;
  return webhook;
}

/** The values `${url}` and `${ca}` of steps. */
export function valuesOf({ service }: TestWebhook): Readonly<Record<string, string>> {
  return { url: service.url, ca: Buffer.from(service.ca).toString("base64") };
}

function answerOf({ request }: Review, path: string): WebhookAnswer {
  const [, sort, argument = ""] = path.split("/");
  const { metadata } = request.object ?? request.oldObject;
  const add = (at: string, value: unknown) => ({ response: patched({ op: "add", path: at, value }) });
  switch (sort) {
    case "allow":
      return { response: { allowed: true } };
    case "warn":
      return { response: { allowed: true, warnings: ["one", "two"] } };
    case "deny":
      return { response: { allowed: false, status: { message: "denied", code: Number(argument || 403) } } };
    case "append": {
      const before = (metadata.annotations?.[calls] ?? "") as string;
      return add("/metadata/annotations", { ...metadata.annotations, [calls]: `${before}${argument}` });
    }
    case "priority":
      return add("/spec/priorityClassName", argument);
    case "owners":
      return add("/metadata/ownerReferences", [...metadata.ownerReferences, ...metadata.ownerReferences]);
    case "managers":
      return add("/metadata/managedFields", [
        { manager: "m", operation: "Other", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
      ]);
    case "broken":
      return { reply: { body: { kind: "Other" } } };
    default:
      return { reply: { status: 500, body: "failed" } };
  }
}
