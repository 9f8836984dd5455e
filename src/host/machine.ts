import { arch, platform, release } from 'node:os';

/** What a manifest tells of the machine. No names: manifests travel. */
export function machineFacts(): Readonly<Record<string, string>> {
  return { os: `${platform()} ${release()} ${arch()}`, node: process.versions.node };
}
