/** A webhook that admits everything, in a process of its own. */
import { listen, readJson, type Tls } from "../limits/bare-server.ts";
import { serveParent } from "../serve-parent.ts";

interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: { readonly uid: string };
}

const handlers = { open };
export type WebhookApi = typeof handlers;
serveParent(handlers);

/** Returns the port. */
async function open(tls: Tls): Promise<number> {
  return await listen(tls, (request, response) => {
    readJson(request, (value) => {
      const { kind, apiVersion, request: asked } = value as Review;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind, apiVersion, response: { uid: asked.uid, allowed: true } }));
    });
  });
}
