/** An OpenID provider and a token review webhook, in a process of their own. */
import { listen, readJson, type Tls } from "../limits/bare-server.ts";
import { serveParent } from "../serve-parent.ts";

export interface IdentityPlan {
  readonly tls: Tls;
  /** The provider's public key, as a JSON Web Key. */
  readonly key: object;
}

interface TokenReview {
  readonly apiVersion: string;
  readonly spec: { readonly token: string };
}

const handlers = { open };
export type IdentityApi = typeof handlers;
serveParent(handlers);

/** Serves the provider's documents to GET; the token of a posted review is the user's name. Returns the port. */
async function open({ tls, key }: IdentityPlan): Promise<number> {
  let issuer = "";
  const port = await listen(tls, (request, response) => {
    const answer = (value: object): void => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (request.method === "POST") {
      readJson(request, (value) => {
        const { apiVersion, spec } = value as TokenReview;
        const user = { username: spec.token, groups: ["reviewed"] };
        answer({ apiVersion, kind: "TokenReview", status: { authenticated: true, user } });
      });
    } else if (request.url === "/keys") answer({ keys: [key] });
    else answer({ issuer, jwks_uri: `${issuer}/keys` });
  });
  issuer = `https://127.0.0.1:${port}`;
  return port;
}
