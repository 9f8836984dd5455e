type Numbers = Uint32Array | Float64Array;

const FIRST_SIZE = 1024;

/** A list of numbers that grows, in a fraction of the memory that an array of them takes. */
export class Column {
  readonly #make: (size: number) => Numbers;
  #numbers: Numbers;
  #length = 0;

  constructor(make: (size: number) => Numbers) {
    this.#make = make;
    this.#numbers = make(FIRST_SIZE);
  }

  get length(): number {
    return this.#length;
  }

  at(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = this.#make(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }
}
