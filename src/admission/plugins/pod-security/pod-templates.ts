import { DaemonSet } from "../../../kinds/apps/daemon-set.ts";
import { Deployment } from "../../../kinds/apps/deployment.ts";
import { ReplicaSet } from "../../../kinds/apps/replica-set.ts";
import { StatefulSet } from "../../../kinds/apps/stateful-set.ts";
import { CronJob } from "../../../kinds/batch/cron-job.ts";
import { Job } from "../../../kinds/batch/job.ts";
import { PodTemplate } from "../../../kinds/core/pod-template.ts";
import { ReplicationController } from "../../../kinds/core/replication-controller.ts";
import type { ApiObject, Kind } from "../../../schema/kind.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** What pods are made of: all that the controls look at. */
export interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: PodSpecValue;
}

/** An object with a template, as far as it is read here. */
interface Templated {
  readonly template?: Template;
  readonly spec?: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec?: { readonly template?: Template } };
  };
}

type TemplateOf = (object: Templated) => Template | undefined;

const inSpec: TemplateOf = ({ spec }) => spec?.template;

/** The kinds whose controllers make pods of a template, and where the template is. */
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

/** The kinds of {@link templateOf}. */
export const templatedKinds: readonly Kind[] = [...templates.keys()];

/** The template of an object of one of these kinds; undefined where it has none. */
export function templateOf(kind: Kind, object: ApiObject): Template | undefined {
  return templates.get(kind)?.(object as Templated);
}
