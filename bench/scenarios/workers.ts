import { getText, writeText } from "../load/http-text.ts";
import { type RequestPlan, sequenceMark } from "../load/plan.ts";
import { measureInTurns, type Side } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { ratioRow } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";

/** A workload of the comparison. */
interface Work {
  readonly name: string;
  readonly connections: number;
  request(subject: Subject): RequestPlan;
}

const get: Work = {
  name: "get, 1 KB",
  connections: 16,
  request: ({ namespace, token }) => ({
    kind: "same",
    text: getText(`${configMapsPath(namespace)}/${objectName(0)}`, token),
  }),
};

const createsOver = (connections: number): Work => ({
  name: "create, 1 KB",
  connections,
  request: ({ namespace, token }) => ({
    kind: "numbered",
    text: writeText(
      "POST",
      configMapsPath(namespace),
      token,
      JSON.stringify(configMap(namespace, `new-${connections}-${sequenceMark}`)),
    ),
    objects: 1,
  }),
});

const works: readonly Work[] = [get, createsOver(16), createsOver(64)];

/**
 * Two workers beside one process. The clients share the processors with the servers, so the processor time of a request says more than the
 * rate: the server's share of each processor grows by as much.
 */
export const workers: Scenario = {
  name: "workers",
  remote: false,
  async *run(bench: Bench) {
    for (const work of works) {
      const single = await prepared(bench, []);
      const several = await prepared(bench, ["--workers=2"]);
      try {
        const { rounds, seconds } = bench.options;
        const sides = [single, several].map((subject) => sideOf(subject, work));
        const [one, two] = await measureInTurns(sides, "answers", rounds, seconds);
        const name = `${work.name}, ${work.connections} connections, 2 workers / 1 process`;
        yield ratioRow(name, "/s", two!, one!);
      } finally {
        await single.close();
        await several.close();
      }
    }
  },
};

async function prepared({ options }: Bench, flags: readonly string[]): Promise<Subject> {
  const subject = await openSubject(options, "workers", { flags });
  const { api, namespace } = subject;
  await api.ask("POST", configMapsPath(namespace), configMap(namespace, objectName(0)));
  return subject;
}

function sideOf(subject: Subject, { name, connections, request }: Work): Side {
  const { address, pid } = subject;
  return { name, plan: { address, connections, request: request(subject) }, pid };
}
