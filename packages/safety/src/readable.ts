// Tells decoded text from decoded noise.

/** Spaced and dotted letters are half of a text. */
const LETTERS_SHARE_MIN = 0.4

const LETTER = 1
const BROKEN = 2
const KINDS = Uint8Array.from({ length: 65_536 }, (_, unit) => kindOf(unit))

function kindOf(unit: number): number {
  if (unit === 0xfffd || (unit >= 0x7f && unit <= 0x9f)) return BROKEN
  if (unit < 32) return unit === 9 || unit === 10 || unit === 13 ? 0 : BROKEN
  return unit > 0xbf || /[0-9a-z]/iu.test(String.fromCharCode(unit)) ? LETTER : 0
}

/** More than 40 % letters and digits and almost no control or replacement characters. */
export function isReadable(text: string): boolean {
  let letters = 0
  let broken = 0
  for (let index = 0; index < text.length; index++) {
    const kind = KINDS[text.charCodeAt(index)] ?? 0
    letters += kind & LETTER
    broken += kind & BROKEN
  }
  return letters > text.length * LETTERS_SHARE_MIN && broken / BROKEN <= 1 + text.length / 64
}
