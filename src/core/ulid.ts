const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_BYTES = 16;

/** A dialog id: 48 bits of time, 80 of chance, in letters nobody mistakes for each other. */
export function ulid(now: number, randomBytes: (count: number) => Uint8Array): string {
  let time = '';
  for (let rest = now, digit = 0; digit < TIME_DIGITS; digit++) {
    time = letter(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  return time + Array.from(randomBytes(RANDOM_BYTES), (byte) => letter(byte % 32)).join('');
}

function letter(value: number): string {
  return ALPHABET.charAt(value);
}
