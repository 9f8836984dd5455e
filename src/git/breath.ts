/** Long work in process leaves the others room: 10 ms, far below the 50 ms in which they are answered. */
const SLICE_MS = 10;

/** To be called after each small piece: lets others run when the slice is used up. */
export function createBreath(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await new Promise(setImmediate);
    begun = performance.now();
  };
}
