import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import type { NewObject } from "../../src/index.ts";
import { decode } from "../../src/schema/decode.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { binaryPostText, getText, writeText } from "../load/http-text.ts";
import { sequenceMark, type RequestPlan } from "../load/plan.ts";
import { measureInTurns, type Side } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject, vocabularyOf } from "../subject.ts";
import { deployment, deploymentsPath, makePodsAccount, pod, podsPath } from "../workloads.ts";

const objects = 1000;
/** The least part of the rate in JSON that the binary form is meant to have. */
const aim = 0.5;

interface Sample {
  readonly name: string;
  readonly kind: Kind;
  readonly path: (namespace: string) => string;
  readonly object: (namespace: string, name: string) => NewObject;
}

const smallMap = { name: "1 KB config map", kind: ConfigMap, path: configMapsPath, object: configMap };
const largePod = { name: "3 KB pod", kind: Pod, path: podsPath, object: pod };
const largeDeployment = {
  name: "3 KB deployment",
  kind: Deployment,
  path: deploymentsPath,
  object: deployment,
};

/** The same work in the binary form and in JSON, which stands as the limit, on the same server. */
export const bothForms: Scenario = {
  name: "both-forms",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "both-forms");
    try {
      await makePodsAccount(subject);
      for (const sample of [smallMap, largePod]) yield* readRows(bench, subject, sample);
      for (const sample of [smallMap, largeDeployment]) yield await createRow(bench, subject, sample);
    } finally {
      await subject.close();
    }
  },
};

async function* readRows(bench: Bench, subject: Subject, sample: Sample): AsyncGenerator<Row> {
  const { api, namespace, token } = subject;
  const path = sample.path(namespace);
  await api.createAll(objects, (index) => ({ path, object: sample.object(namespace, objectName(index)) }));
  const { protobufMediaType } = vocabularyOf(bench.options);
  const read = (at: string) => (accept: string | undefined) =>
    ({ kind: "same", text: getText(at, token, accept) }) as const;
  const forms = [protobufMediaType, undefined] as const;
  const one = forms.map(read(`${path}/${objectName(0)}`));
  yield await row(bench, subject, `binary get beside JSON, ${sample.name}`, 16, one);
  yield await row(
    bench,
    subject,
    `binary list of 1,000 beside JSON, ${sample.name}`,
    4,
    forms.map(read(path)),
  );
}

async function createRow(bench: Bench, subject: Subject, sample: Sample): Promise<Row> {
  const { namespace, token } = subject;
  const path = sample.path(namespace);
  const { protobufMediaType } = vocabularyOf(bench.options);
  const object = (form: string): NewObject => sample.object(namespace, `${form}-${sequenceMark}`);
  const text = binaryPostText(path, token, binaryBody(sample.kind, object("binary")), protobufMediaType);
  const plans: readonly RequestPlan[] = [
    { kind: "numbered", text, objects, encoding: "latin1" },
    { kind: "numbered", text: writeText("POST", path, token, JSON.stringify(object("json"))), objects },
  ];
  return row(bench, subject, `binary create beside JSON, ${sample.name}`, 16, plans);
}

function binaryBody(kind: Kind, object: NewObject): Buffer {
  const { value } = decode(kind.type, object);
  return sealEnvelope({ apiVersion: object.apiVersion, kind: kind.name }, encodeMessage(kind.type, value));
}

/** @param plans for the binary form and for JSON. */
async function row(
  { options }: Bench,
  { address, pid }: Subject,
  name: string,
  connections: number,
  plans: readonly RequestPlan[],
): Promise<Row> {
  const sides = plans.map((request, index): Side => ({
    name: index === 0 ? name : `${name}: JSON`,
    pid,
    plan: { address, connections, request },
  }));
  const [binary, json] = await measureInTurns(sides, "answers", options.rounds, options.seconds);
  return ratioRow(name, "/s", binary!, json!, aim);
}
