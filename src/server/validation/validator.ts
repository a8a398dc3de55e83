import type { JsonObject } from "../../base/json/value.ts";
import type { Release } from "../../base/releases.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { sourceName } from "./answer-findings.ts";
import { nameOf, type ManifestObject } from "./documents.ts";
import type {
  Finding,
  ValidatedObject,
  ValidationLocation,
  ValidationProblem,
  ValidationReport,
} from "./problem.ts";
import { changesBetween } from "./changes.ts";
import { References } from "./references.ts";
import { RuleSources } from "./rule-source.ts";
import { Session, type SessionOptions } from "./session.ts";

/** What references to missing objects count as. */
export type ReferenceMode = "warning" | "error" | "ignore";

/** Options of a {@link Validator}. */
export interface ValidatorOptions extends SessionOptions {
  readonly releases: readonly Release[];
  readonly references: ReferenceMode;
  /** Whether kinds without a definition are accepted, with a warning. */
  readonly acceptsUnknownKinds: boolean;
  /** Whether differences between the objects of the first release and of others are problems, as for an upgrade. */
  readonly comparesReleases?: boolean | undefined;
}

/** A verdict that isn't complete: references are checked when all objects are known. */
interface OpenVerdict extends Omit<ValidatedObject, "accepted" | "acceptedBy" | "problems"> {
  readonly problems: ValidationProblem[];
  readonly locate: ManifestObject["locate"];
}

/**
 * Judges objects by servers in memory, one for each release. Objects are judged one after the other and not kept, apart from the context.
 */
export class Validator {
  private readonly verdicts: OpenVerdict[] = [];
  private readonly references: References;
  private readonly sources: RuleSources;
  private readonly firsts = new Map<string, ValidationLocation | undefined>();
  /** Indexes of the verdicts of the objects in {@link references}. */
  private readonly referring: number[] = [];
  private readonly yieldIfDue = createYielder();

  private constructor(
    private readonly options: ValidatorOptions,
    private readonly sessions: readonly Session[],
    private readonly context: readonly ManifestObject[],
  ) {
    this.references = new References(options.vocabulary);
    this.sources = new RuleSources(context, options.vocabulary);
  }

  /**
   * Starts the servers.
   *
   * @param context objects that decide about others; those that `needsAsContext` selects, and objects of a running server.
   */
  static async open(options: ValidatorOptions, context: readonly ManifestObject[]): Promise<Validator> {
    const sessions: Session[] = [];
    try {
      for (const release of options.releases) sessions.push(await Session.open(release, options, context));
      return new Validator(options, sessions, context);
    } catch (error) {
      for (const session of sessions) await session.close();
      throw error;
    }
  }

  /** Declares an object to which others may refer, and that isn't judged. */
  async provide(object: ManifestObject): Promise<void> {
    this.references.provide(object.value, await this.namespaceOf(object.value));
  }

  /** Adds a text that is no manifest. */
  reject(location: ValidationLocation | undefined, message: string): void {
    const finding: Finding = { severity: "error", rule: "syntax", field: "", message };
    const problems = [{ ...finding, releases: this.options.releases, location }];
    const empty = { apiVersion: "", kind: "", namespace: "", name: "" };
    this.verdicts.push({ ...empty, location, problems, locate: undefined });
  }

  /** Judges an object in all releases. */
  async check(object: ManifestObject): Promise<void> {
    await this.yieldIfDue();
    const { value, locate, start } = object;
    const name = nameOf(value);
    const namespace = await this.namespaceOf(value);
    const problems: ValidationProblem[] = [];
    const hasDefinition = this.sources.definitionOf(name.group, name.kind) !== undefined;
    const merged = new Map<string, { finding: Finding; releases: Release[] }>();
    for (const session of this.sessions) {
      for (const finding of await session.check(object, hasDefinition)) {
        const counted = this.accepted(finding);
        const key = JSON.stringify([counted.severity, counted.rule, counted.field, counted.message]);
        const one = merged.get(key) ?? { finding: counted, releases: [] };
        if (!one.releases.includes(session.release)) one.releases.push(session.release);
        merged.set(key, one);
      }
    }
    if (this.options.comparesReleases === true) {
      for (const { finding, releases } of await changesBetween(
        this.sessions,
        object,
        this.options.vocabulary,
      ))
        merged.set(JSON.stringify([finding.field, finding.message]), { finding, releases });
    }
    for (const { finding, releases } of merged.values())
      problems.push(await this.located(finding, releases, object));
    const { apiVersion, kind } = name;
    const location = problems.length === 0 ? start : await locate?.("");
    this.verdicts.push({ apiVersion, kind, namespace, name: name.name, location, problems, locate });
    this.referring.push(this.verdicts.length - 1);
    this.references.add(value, namespace, hasDefinition);
    this.reportDuplicate(name.group, this.verdicts.at(-1)!);
  }

  /** Returns all verdicts, in the order in which the objects were judged. */
  async finish(): Promise<ValidationReport> {
    await this.checkReferences();
    const { releases } = this.options;
    const objects = this.verdicts.map(({ locate: _locate, ...verdict }): ValidatedObject => {
      const errors = verdict.problems.filter(({ severity }) => severity === "error");
      const acceptedBy = releases.filter((release) => !errors.some((one) => one.releases.includes(release)));
      return { ...verdict, acceptedBy, accepted: acceptedBy.length === releases.length };
    });
    return { accepted: objects.every(({ accepted }) => accepted), releases, objects };
  }

  /** Stops the servers. */
  async close(): Promise<void> {
    for (const session of this.sessions) await session.close();
  }

  private accepted(finding: Finding): Finding {
    return finding.rule === "kind" && this.options.acceptsUnknownKinds
      ? { ...finding, severity: "warning" }
      : finding;
  }

  private async namespaceOf(value: JsonObject): Promise<string> {
    const { apiVersion, kind, namespace } = nameOf(value);
    for (const session of this.sessions) {
      const isNamespaced = await session.isNamespaced(apiVersion, kind);
      if (isNamespaced !== undefined) return isNamespaced ? namespace || this.options.namespace : "";
    }
    return namespace;
  }

  private async located(
    finding: Finding,
    releases: readonly Release[],
    { value, locate }: ManifestObject,
  ): Promise<ValidationProblem> {
    const withRule = await this.sources.withSource(finding, value);
    const source = withRule.source ?? (await this.namedSource(finding));
    const occurrence = finding.message.startsWith("duplicate field ") ? "last" : "first";
    return { ...withRule, source, releases, location: await locate?.(finding.field, occurrence) };
  }

  /** Returns the policy or quota that made a problem. */
  private async namedSource(finding: Finding): Promise<Finding["source"]> {
    const text = sourceName(finding);
    if (text === undefined) return undefined;
    const suffix = finding.rule === "quota" ? "ResourceQuota" : "AdmissionPolicy";
    const object = this.context.find(({ value }) => {
      const { kind, name } = nameOf(value);
      return name === text && kind.endsWith(suffix);
    });
    return { text, location: await object?.locate?.("") };
  }

  private reportDuplicate(group: string, verdict: OpenVerdict): void {
    const { kind, namespace, name, location, problems } = verdict;
    if (name === "" || problems.some(({ rule }) => rule === "kind")) return;
    const key = `${group}/${kind}/${namespace}/${name}`;
    if (!this.firsts.has(key)) {
      this.firsts.set(key, location);
      return;
    }
    const first = this.firsts.get(key);
    const where = first === undefined ? "" : `: ${first.file}:${first.line}`;
    problems.push({
      severity: "warning",
      rule: "duplicate",
      field: "metadata.name",
      message: `the same object occurs before${where}; the last one wins when they are applied in order`,
      releases: this.options.releases,
      location,
    });
  }

  private async checkReferences(): Promise<void> {
    const { references, releases } = this.options;
    if (references === "ignore") return;
    const [session] = this.sessions;
    const broken = await this.references.broken((reference) => session!.hasByDefault(reference));
    for (const { object, field, message } of broken) {
      const verdict = this.verdicts[this.referring[object]!]!;
      const location = await verdict.locate?.(field);
      verdict.problems.push({ severity: references, rule: "reference", field, message, releases, location });
    }
  }
}
