import type { Span, Tally } from './spans.js';

/** What says who somebody is; taken out only where the settings ask for it. */
export const PERSONAL = ['email', 'card'] as const;
export type Personal = (typeof PERSONAL)[number];

/** Every part is bounded, so that no text makes it begin again and again. */
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/giu;
const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])/gu;

export function personalIn(text: string, kinds: readonly Personal[], tally: Tally): Span[] {
  tally.steps += text.length * kinds.length;
  const found = (pattern: RegExp, kind: Personal) =>
    [...text.matchAll(pattern)].map(({ 0: one, index }) => {
      return { from: index, to: index + one.length, kind, text: one };
    });
  return [
    ...(kinds.includes('email') ? found(EMAIL, 'email') : []),
    ...(kinds.includes('card') ? found(CARD, 'card').filter((one) => isCard(one.text)) : []),
  ];
}

/** By its check digit: other long numbers pass once in ten. */
function isCard(text: string): boolean {
  const digits = Array.from(text.replace(/\D/gu, ''), Number).reverse();
  const sum = digits.reduce((all, digit, at) => {
    const counted = at % 2 === 0 ? digit : digit * 2;
    return all + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return /^[3-6]/u.test(text) && sum % 10 === 0;
}
