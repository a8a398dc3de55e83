import { Api } from "../api.ts";
import type { WebhookApi } from "../children/admission-webhook.ts";
import { median, type Sample } from "../measure.ts";
import { configMap, configMapsPath } from "../objects.ts";
import { measurePrepared, type PreparedSide } from "../prepared.ts";
import { Helper } from "../processes.ts";
import { differenceRow, timesRow } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, vocabularyOf, type Subject } from "../subject.ts";

/** What a create with one webhook may take beside its round trip, in milliseconds. */
const aimMs = 0.3;
/** What a create may take with many configurations that don't match, beside one without. */
const aimTimes = 1.02;
const manyConfigurations = 1000;

/** So many creates in one run, so that a run is longer than the machine's hiccups. */
const creates = 50;

/**
 * Creates, one after the other: with one webhook on the same machine, beside the same without it and the round trip of its
 * review; and with a thousand configurations that don't match, beside none.
 */
export const webhooks: Scenario = {
  name: "webhooks",
  remote: false,
  async *run(bench: Bench) {
    const { rounds, seconds } = bench.options;
    const subject = await openSubject(bench.options, "webhooks");
    const other = await openSubject(bench.options, "webhooks-none");
    const helper = Helper.start<WebhookApi>("children/admission-webhook.ts");
    try {
      const port = await helper.call("open", bench.tls);
      const direct = new Api({ host: "127.0.0.1", port, ca: bench.tls.ca }, "");
      await configure(bench, subject, port);
      const [without, asked, trip] = await measurePrepared(
        [creating(subject, "free"), creating(subject, "sent"), reviewing(direct, subject.namespace)],
        rounds,
        seconds,
      );
      direct.close();
      const limit = p50Of(without!) + p50Of(trip!);
      yield differenceRow("create with one webhook", "ms", p50Of(asked!), limit, aimMs);
      await configureMany(bench, subject);
      const [many, none] = await measurePrepared(
        [creating(subject, "free"), creating(other, "free")],
        rounds,
        seconds,
      );
      const name = `create with ${manyConfigurations.toLocaleString("en-US")} configurations that don't match`;
      yield timesRow(name, "ms", p50Of(many!), p50Of(none!), aimTimes);
    } finally {
      await helper.close();
      await subject.close();
      await other.close();
    }
  },
};

/** Of one create. */
function p50Of(samples: readonly Sample[]): number {
  return median(samples.map(({ p50 }) => p50)) / creates;
}

let made = 0;

function creating({ api, pid, namespace }: Subject, mark: string): PreparedSide {
  const path = configMapsPath(namespace);
  return {
    pid,
    units: creates,
    prepare: () => Promise.resolve(),
    async run() {
      for (let count = 0; count < creates; count++) {
        const object = configMap(namespace, `webhooks-${++made}`);
        await api.ask("POST", path, { ...object, metadata: { ...object.metadata, labels: { mark } } });
      }
    },
  };
}

/** Asks the webhook itself, with a review as large as those of the server. */
function reviewing(api: Api, namespace: string): PreparedSide {
  const object = configMap(namespace, "webhooks-0", 1400);
  const review = { kind: "AdmissionReview", apiVersion: "admission/v1", request: { uid: "u", object } };
  return {
    pid: undefined,
    units: creates,
    prepare: () => Promise.resolve(),
    async run() {
      for (let count = 0; count < creates; count++) await api.ask("POST", "/", review);
    },
  };
}

function webhookOf(bench: Bench, port: number, resource: string): object {
  return {
    name: "webhook.bench.example.com",
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(bench.tls.ca).toString("base64"),
    },
    rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["*"], resources: [resource] }],
    objectSelector: { matchLabels: { mark: "sent" } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
}

function collectionPath({ options }: Bench): string {
  return `/apis/admissionregistration.${vocabularyOf(options).groupSuffix}/v1/validatingwebhookconfigurations`;
}

async function configure(bench: Bench, { api }: Subject, port: number): Promise<void> {
  const webhooks = [webhookOf(bench, port, "configmaps")];
  await api.ask("POST", collectionPath(bench), { metadata: { name: "bench" }, webhooks });
}

async function configureMany(bench: Bench, { api }: Subject): Promise<void> {
  await api.ask("DELETE", `${collectionPath(bench)}/bench`);
  const webhooks = [webhookOf(bench, 1, "services")];
  await api.createAll(manyConfigurations, (index) => ({
    path: collectionPath(bench),
    object: { metadata: { name: `bench-${index}` }, webhooks },
  }));
}
