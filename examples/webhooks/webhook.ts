// An admission webhook: pods get the label `team` of their namespace, and none runs an image of the tag `latest`.
import { createServer, type ServerOptions } from "node:https";
import type { IncomingMessage, Server } from "node:http";

interface Pod {
  readonly metadata: { readonly namespace: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly object: Pod };
}

interface Operation {
  readonly op: "add";
  readonly path: string;
  readonly value: unknown;
}

/** What is answered to a review beside its uid. */
interface Response {
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
  readonly warnings?: readonly string[];
  readonly patchType?: "JSONPatch";
  readonly patch?: string;
}

/** The mutating half, at `/label`: the patch is a list of JSON patch operations in base64. */
function label({ metadata: { namespace, labels } }: Pod): Response {
  if (labels?.["team"] !== undefined) return { allowed: true };
  const patch: Operation[] =
    labels === undefined
      ? [{ op: "add", path: "/metadata/labels", value: { team: namespace } }]
      : [{ op: "add", path: "/metadata/labels/team", value: namespace }];
  const text = Buffer.from(JSON.stringify(patch)).toString("base64");
  return { allowed: true, patchType: "JSONPatch", patch: text };
}

/** The validating half, at `/check`. */
function check({ spec: { containers } }: Pod): Response {
  const latest = containers.find(({ image }) => image.endsWith(":latest"));
  if (latest !== undefined) {
    return {
      allowed: false,
      status: { code: 403, message: `container ${latest.name} runs ${latest.image}` },
    };
  }
  const untagged = containers.filter(({ image }) => !image.includes(":"));
  return {
    allowed: true,
    warnings: untagged.map(({ name }) => `container ${name} has an image without a tag`),
  };
}

/** Serves both halves. @param tls the certificate must be for the name under which the server calls. */
export function webhookServer(tls: ServerOptions): Server {
  return createServer(tls, (request, response) => {
    answer(request).then(
      (review) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(review)),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
}

async function answer(request: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString()) as Review;
  // The server adds the time limit as a query parameter.
  const { pathname } = new URL(request.url ?? "/", "https://localhost");
  const decide = pathname === "/label" ? label : check;
  // An answer has the version and the uid of its question.
  return { apiVersion, kind, response: { uid: asked.uid, ...decide(asked.object) } };
}
