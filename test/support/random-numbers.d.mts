export function randomNumbers(seed: number): (end: number) => number;
