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

  static small(): Column {
    return new Column((size) => new Uint32Array(size));
  }

  /** For numbers beyond 32 bits. */
  static wide(): Column {
    return new Column((size) => new Float64Array(size));
  }

  get length(): number {
    return this.#length;
  }

  /** What one number takes in `bytes`. */
  get width(): number {
    return this.#numbers.BYTES_PER_ELEMENT;
  }

  /** For a look through many of them; valid until the next one is added, and longer than `length`. */
  get numbers(): ArrayLike<number> {
    return this.#numbers;
  }

  at(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) this.#grow(this.#length * 2);
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  set(place: number, number: number): void {
    this.#numbers[place] = number;
  }

  /** Forgets what is at this place and after it. */
  cut(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** The first place whose number is not smaller; for a column in ascending order. */
  firstNotBelow(number: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A copy of a stretch as it is kept on disk, little-endian as every machine we run on. */
  bytes(from = 0, to = this.#length): Uint8Array {
    const part = this.#numbers.slice(from, to);
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  }

  /** Adds what `bytes` gave. */
  append(bytes: Uint8Array): void {
    const { width } = this;
    const length = this.#length + Math.floor(bytes.length / width);
    // With room for what comes next, or the first line after a start would copy everything.
    if (length > this.#numbers.length) this.#grow(Math.ceil(length * 1.1) + FIRST_SIZE);
    new Uint8Array(this.#numbers.buffer).set(bytes, this.#length * width);
    this.#length = length;
  }

  #grow(size: number): void {
    const larger = this.#make(size);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
