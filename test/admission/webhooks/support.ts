import type { CreateServerOptions } from "../../../src/index.ts";
import { afterAll, afterEach, beforeAll } from "vitest";
import { HttpsService, type Received, type Reply } from "../../support/https-service.ts";
import type { Answer, Api, TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";

const REGISTRATION = "/apis/admissionregistration.platform.io/v1";

/** An AdmissionReview that a webhook receives. */
export interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  // Tests read requests of any shape; a wrong shape fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly request: any;
}

/** The response of a test webhook: a review response, or a complete HTTP reply. */
export type WebhookAnswer = { readonly response: object } | { readonly reply: Reply };

/** A webhook over TLS with a configurable answer, which records its calls. */
export class TestWebhook {
  /** The received calls in order of arrival. */
  readonly calls: { readonly path: string; readonly review: Review; readonly received: Received }[] = [];
  answer: (review: Review, path: string) => WebhookAnswer | Promise<WebhookAnswer> = () => ({
    response: { allowed: true },
  });
  private constructor(readonly service: HttpsService) {}

  /** @param hosts the names in its certificate; defaults to this machine. */
  static async start(hosts?: readonly string[], listenOn?: string): Promise<TestWebhook> {
    const service = await HttpsService.start((received) => webhook.serve(received), hosts, listenOn);
    const webhook = new TestWebhook(service);
    return webhook;
  }

  private async serve(received: Received): Promise<Reply> {
    const review = JSON.parse(received.text) as Review;
    const path = received.path.split("?", 1)[0]!;
    this.calls.push({ path, review, received });
    const said = await this.answer(review, path);
    if ("reply" in said) return said.reply;
    return { body: reviewed(review, said.response) };
  }

  /** `clientConfig` of this webhook. */
  client(path = "/"): object {
    return { url: `${this.service.url}${path}`, caBundle: Buffer.from(this.service.ca).toString("base64") };
  }

  /** The paths of the received calls, in order. */
  get paths(): string[] {
    return this.calls.map(({ path }) => path);
  }

  reset(): void {
    this.calls.length = 0;
    this.answer = () => ({ response: { allowed: true } });
  }

  close(): Promise<void> {
    return this.service.close();
  }
}

/** Returns the AdmissionReview with `response` for a received review. */
export function reviewed({ kind, apiVersion, request }: Review, response: object): object {
  return { kind, apiVersion, response: { uid: request.uid as string, ...response } };
}

/** A response with a JSON patch. */
export const patched = (...operations: object[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

/** Returns a webhook of a configuration, which matches ConfigMaps by default. */
export const hook = (client: object, changes: object = {}) => ({
  name: "one.test.example.com",
  clientConfig: client,
  rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  timeoutSeconds: 5,
  ...changes,
});

/** Creates and removes webhook configurations of one server. */
export class Configurations {
  private readonly made: string[] = [];
  constructor(private readonly api: Api) {}

  async mutating(name: string, ...webhooks: object[]): Promise<void> {
    await this.create("mutatingwebhookconfigurations", name, webhooks);
  }

  async validating(name: string, ...webhooks: object[]): Promise<void> {
    await this.create("validatingwebhookconfigurations", name, webhooks);
  }

  private async create(resource: string, name: string, webhooks: object[]): Promise<void> {
    const answer: Answer = await this.api.post(`${REGISTRATION}/${resource}`, {
      metadata: { name },
      webhooks,
    });
    if (answer.status !== 201) throw new Error(answer.text);
    this.made.push(`${REGISTRATION}/${resource}/${name}`);
  }

  /** Removes all created configurations. */
  async clear(): Promise<void> {
    for (const path of this.made.splice(0)) await this.api.delete(path);
  }
}

/** A server, a webhook and the configurations of the server, for the tests of one file. */
export interface WebhookFixture {
  readonly server: TestServer;
  readonly webhook: TestWebhook;
  readonly configurations: Configurations;
}

/** Starts a server and a webhook before the tests of a file; removes configurations and config maps after each. */
export function useWebhook(options: CreateServerOptions = {}): WebhookFixture {
  const server = useServer(options);
  const started = {} as { webhook: TestWebhook; configurations: Configurations };
  beforeAll(async () => {
    started.webhook = await TestWebhook.start();
    started.configurations = new Configurations(server.admin);
  });
  afterAll(() => started.webhook.close());
  afterEach(async () => {
    await started.configurations.clear();
    started.webhook.reset();
    await server.admin.ask("DELETE", "/api/v1/namespaces/default/configmaps");
  });
  return Object.assign(started, { server });
}
