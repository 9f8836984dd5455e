/** A name that the compiler keeps apart from other strings. */
type Branded<Name extends string> = string & { readonly [brand]: Name };
declare const brand: unique symbol;

/** Relative to the project root, `/`-separated, no `.` or `..` parts, never empty. */
export type Path = Branded<'Path'>;

/** A git blob id: 40 hex digits, the identity of content everywhere. */
export type Hash = Branded<'Hash'>;

/** A git commit id: 40 hex digits, the identity of a checkpoint. */
export type CommitId = Branded<'CommitId'>;

/** A position in the event stream; opaque to callers. */
export type Cursor = Branded<'Cursor'>;

/** A ULID. */
export type DialogId = Branded<'DialogId'>;

/** A ULID. */
export type EditId = Branded<'EditId'>;
