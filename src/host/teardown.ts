/** Steps that undo a start, run once, last first. One that fails does not keep the others from running. */
export class Teardown {
  readonly #steps: { readonly what: string; readonly undo: () => void | Promise<void> }[] = [];

  add(what: string, undo: () => void | Promise<void>): void {
    this.#steps.push({ what, undo });
  }

  async run(onFailure: (what: string, error: unknown) => void): Promise<void> {
    for (const { what, undo } of this.#steps.splice(0).reverse()) {
      try {
        await undo();
      } catch (error) {
        onFailure(what, error);
      }
    }
  }
}
