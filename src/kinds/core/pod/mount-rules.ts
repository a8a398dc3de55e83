import type { FieldReport } from "../../../schema/faults.ts";
import { descendingPath, noBacksteps } from "../../checks/paths.ts";

/** The volume mounts and devices of a container. */
interface VolumeUser {
  readonly volumeMounts?:
    | readonly {
        readonly name: string;
        readonly mountPath: string;
        readonly subPath?: string | undefined;
        readonly subPathExpr?: string | undefined;
        readonly readOnly?: boolean | undefined;
        readonly mountPropagation?: string | undefined;
        readonly recursiveReadOnly?: string | undefined;
      }[]
    | undefined;
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath: string }[] | undefined;
  readonly securityContext?: { readonly privileged?: boolean | undefined } | undefined;
}

/** The pod's volumes by name; true for claims, which can be block devices. */
export type DeclaredVolumes = ReadonlyMap<string, boolean>;

/**
 * Requires that mounts and devices name volumes of the pod, that paths are unique, and that no volume is both mounted
 * and a device.
 */
export function checkVolumeUse(container: VolumeUser, volumes: DeclaredVolumes, report: FieldReport): void {
  checkMounts(container, volumes, report.at("volumeMounts"));
  checkDevices(container, volumes, report.at("volumeDevices"));
}

function checkMounts(container: VolumeUser, volumes: DeclaredVolumes, report: FieldReport): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  const paths = new Set<string>();
  for (const [index, mount] of volumeMounts.entries()) {
    if (report.full) return;
    const at = report.at(index);
    const { name, mountPath, subPath = "", subPathExpr = "" } = mount;
    if (!volumes.has(name)) at.at("name").notFound(name);
    if (mountPath !== "" && paths.has(mountPath)) at.at("mountPath").invalid(mountPath, "must be unique");
    paths.add(mountPath);
    if (deviceNames.has(name)) at.at("name").invalid(name, "must not already exist in volumeDevices");
    if (devicePaths.has(mountPath)) {
      at.at("mountPath").invalid(mountPath, "must not already exist as a path in volumeDevices");
    }
    if (subPath !== "") descendingPath(subPath, at.at("subPath"));
    if (subPathExpr !== "") {
      if (subPath !== "") {
        at.at("subPathExpr").invalid(subPathExpr, "subPathExpr and subPath are mutually exclusive");
      }
      descendingPath(subPathExpr, at.at("subPathExpr"));
    }
    if (mount.mountPropagation === "Bidirectional" && container.securityContext?.privileged !== true) {
      at.at("mountPropagation").forbidden("Bidirectional is available only to privileged containers");
    }
    checkRecursion(mount, report);
  }
}

interface Mount {
  readonly readOnly?: boolean | undefined;
  readonly mountPropagation?: string | undefined;
  readonly recursiveReadOnly?: string | undefined;
}

/** Allows recursive read-only mounts only without write access and propagation; the path is that of the list, as in the reference. */
function checkRecursion({ readOnly, mountPropagation, recursiveReadOnly }: Mount, report: FieldReport): void {
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible") return;
  const at = report.at("recursiveReadOnly");
  if (readOnly !== true) at.forbidden("may only be specified when readOnly is true");
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    at.forbidden("may only be specified when mountPropagation is None or not specified");
  }
}

const bindOptions = ["nodev", "noexec", "nosuid"];

/** Allows the known options of bind mounts. */
export function bindMountOptions(options: readonly string[], report: FieldReport): void {
  for (const [index, option] of options.entries()) {
    if (report.full) return;
    if (!bindOptions.includes(option)) report.at(index).notSupported(option, bindOptions);
  }
}

function checkDevices(container: VolumeUser, volumes: DeclaredVolumes, report: FieldReport): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const mountNames = new Set(volumeMounts.map(({ name }) => name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name, devicePath }] of volumeDevices.entries()) {
    if (report.full) return;
    const nameAt = report.at(index, "name");
    const pathAt = report.at(index, "devicePath");
    // Only volumes of claims can be block devices.
    if (volumes.get(name) !== true) nameAt.notFound(name);
    if (name !== "") {
      if (names.has(name)) nameAt.invalid(name, "must be unique");
      if (mountNames.has(name)) nameAt.invalid(name, "must not already exist in volumeMounts");
      names.add(name);
    }
    if (devicePath === "") continue;
    if (paths.has(devicePath)) pathAt.invalid(devicePath, "must be unique");
    noBacksteps(devicePath, pathAt);
    paths.add(devicePath);
    if (mountPaths.has(devicePath)) {
      pathAt.invalid(devicePath, "must not already exist as a path in volumeMounts");
    }
  }
}
