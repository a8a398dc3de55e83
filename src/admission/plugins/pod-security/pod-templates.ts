import { DaemonSet } from "../../../kinds/apps/daemon-set.ts";
import { Deployment } from "../../../kinds/apps/deployment.ts";
import { ReplicaSet } from "../../../kinds/apps/replica-set.ts";
import { StatefulSet } from "../../../kinds/apps/stateful-set.ts";
import { CronJob } from "../../../kinds/batch/cron-job.ts";
import { Job } from "../../../kinds/batch/job.ts";
import { PodTemplate } from "../../../kinds/core/pod-template.ts";
import { ReplicationController } from "../../../kinds/core/replication-controller.ts";
import { declarationOf, type ApiObject, type Kind } from "../../../schema/kind.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** A pod template: the parts that controls check. */
export interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: PodSpecValue;
}

/** The fields of an object with a pod template that are read. */
interface Templated {
  readonly template?: Template;
  readonly spec?: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec?: { readonly template?: Template } };
  };
}

type TemplateOf = (object: Templated) => Template | undefined;

const inSpec: TemplateOf = ({ spec }) => spec?.template;

/** The kinds with a pod template, and how to read it. */
const templates: ReadonlyMap<Kind, TemplateOf> = new Map<Kind, TemplateOf>([
  [PodTemplate, ({ template }) => template],
  [ReplicationController, inSpec],
  [Deployment, inSpec],
  [ReplicaSet, inSpec],
  [StatefulSet, inSpec],
  [DaemonSet, inSpec],
  [Job, inSpec],
  [CronJob, ({ spec }) => spec?.jobTemplate?.spec?.template],
]);

/** The kinds that {@link templateOf} supports. */
export const templatedKinds: readonly Kind[] = [...templates.keys()];

/** Returns the pod template of an object of these kinds; undefined if it has none. */
export function templateOf(kind: Kind, object: ApiObject): Template | undefined {
  return templates.get(declarationOf(kind))?.(object as Templated);
}
