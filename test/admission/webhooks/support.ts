import { afterAll, afterEach, beforeAll } from "vitest";
import { HttpsService, type Received, type Reply } from "../../support/https-service.ts";
import type { Answer, Api, TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";

const REGISTRATION = "/apis/admissionregistration.platform.io/v1";

/** What a webhook is asked, as far as tests look into it. */
export interface Asked {
  readonly kind: string;
  readonly apiVersion: string;
  // Tests look into requests of any shape; a wrong shape fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly request: any;
}

/** What a test's webhook says; a reply is sent as it is. */
export type Said = { readonly response: object } | { readonly reply: Reply };

/** A webhook over TLS, which answers as each test decides and keeps what it was asked. */
export class TestWebhook {
  /** What was asked, by the path, in the order of arrival. */
  readonly asked: { readonly path: string; readonly review: Asked; readonly received: Received }[] = [];
  answer: (asked: Asked, path: string) => Said | Promise<Said> = () => ({ response: { allowed: true } });
  private constructor(readonly service: HttpsService) {}

  /** @param hosts whom its certificate is for, unless this machine. */
  static async start(hosts?: readonly string[], listenOn?: string): Promise<TestWebhook> {
    const service = await HttpsService.start((received) => webhook.serve(received), hosts, listenOn);
    const webhook = new TestWebhook(service);
    return webhook;
  }

  private async serve(received: Received): Promise<Reply> {
    const review = JSON.parse(received.text) as Asked;
    this.asked.push({ path: received.path, review, received });
    const said = await this.answer(review, received.path);
    if ("reply" in said) return said.reply;
    return { body: reviewed(review, said.response) };
  }

  /** `clientConfig` of this webhook. */
  client(path = "/"): object {
    return { url: `${this.service.url}${path}`, caBundle: Buffer.from(this.service.ca).toString("base64") };
  }

  /** The paths that were asked, in order. */
  get paths(): string[] {
    return this.asked.map(({ path }) => path);
  }

  reset(): void {
    this.asked.length = 0;
    this.answer = () => ({ response: { allowed: true } });
  }

  close(): Promise<void> {
    return this.service.close();
  }
}

/** The review that answers another one. */
export function reviewed({ kind, apiVersion, request }: Asked, response: object): object {
  return { kind, apiVersion, response: { uid: request.uid as string, ...response } };
}

/** A response with a JSON patch. */
export const patched = (...operations: object[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

/** A webhook of a configuration, for config maps unless told otherwise. */
export const hook = (client: object, changes: object = {}) => ({
  name: "one.test.example.com",
  clientConfig: client,
  rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  timeoutSeconds: 5,
  ...changes,
});

/** Configurations of one server. */
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

  /** Removes everything that was made. */
  async clear(): Promise<void> {
    for (const path of this.made.splice(0)) await this.api.delete(path);
  }
}

/** A server, a webhook and the configurations of the server, for the tests of one file. */
export interface WebhookWorld {
  readonly server: TestServer;
  readonly webhook: TestWebhook;
  readonly configurations: Configurations;
}

/** Starts a server and a webhook before the tests of a file; removes configurations and config maps after each. */
export function useWebhook(): WebhookWorld {
  const server = useServer();
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
