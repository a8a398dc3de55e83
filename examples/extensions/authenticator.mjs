// An authenticator for tokens that a program signs itself, and an authorizer that keeps guests from writing.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, StatusError } from "plinth";

const sign = (name) =>
  createHmac("sha256", process.env.TOKEN_KEY ?? "secret")
    .update(name)
    .digest("hex");
export const tokenFor = (name) => `demo.${name}.${sign(name)}`;

const demoTokens = {
  name: "demo-tokens",
  authenticate({ authorization = "" }) {
    const [, name, signature] = /^Bearer demo\.([a-z]+)\.([0-9a-f]{64})$/.exec(authorization) ?? [];
    if (name === undefined) return undefined;
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(name))))
      throw new StatusError("Unauthorized", "Unauthorized: wrong signature");
    return { user: { name, uid: "", groups: ["guests"], extra: {} }, method: "demo", cacheable: true };
  },
};

const guestsRead = {
  name: "guests-read",
  authorize({ user, verb }) {
    if (!user.groups.includes("guests")) return { verdict: "noOpinion", reason: "", evaluationError: "" };
    const verdict = ["get", "list", "watch"].includes(verb) ? "allow" : "deny";
    return { verdict, reason: "guests read", evaluationError: "" };
  },
};

export default await createServer({
  authenticators: [demoTokens],
  authorizers: [guestsRead],
  authorizationModes: ["guests-read", "RBAC"],
});
