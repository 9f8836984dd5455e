/**
 * What the command line needs to know of the method table. Written at build time, so that a cold
 * command reads one small JSON file instead of loading schemas.
 */
export interface CliManifest {
  readonly version: string;
  readonly commands: readonly CliCommand[];
}

export interface CliCommand {
  readonly command: string;
  readonly method: string;
  readonly summary: string;
  readonly positional: readonly string[];
  readonly flags: readonly CliFlag[];
  readonly switches: Readonly<Record<string, { readonly field: string; readonly value: string }>>;
  readonly fixed: Readonly<Record<string, unknown>>;
  /** Fields that name a file as the caller sees it. */
  readonly places: readonly string[];
}

export interface CliFlag {
  /** Without dashes, as typed. */
  readonly name: string;
  readonly field: string;
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'numbers' | 'objects' | 'json';
  readonly required: boolean;
  readonly short?: string;
  readonly choices?: readonly string[];
  readonly help?: string;
  /** The member that a plain word is, where an object needs no other. */
  readonly word?: string;
}
