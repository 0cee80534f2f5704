// Tells decoded text from decoded noise.

const LETTERS_SHARE_MIN = 0.6

/** More than 60 % letters and digits and almost no control or replacement characters. */
export function isReadable(text: string): boolean {
  let letters = 0
  let broken = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (
      (unit >= 97 && unit <= 122) ||
      (unit >= 65 && unit <= 90) ||
      (unit >= 48 && unit <= 57) ||
      (unit > 0xbf && unit !== 0xfffd)
    )
      letters += 1
    else if (
      unit === 0xfffd ||
      unit === 127 ||
      (unit < 32 && unit !== 9 && unit !== 10 && unit !== 13)
    )
      broken += 1
  }
  return letters > text.length * LETTERS_SHARE_MIN && broken <= 1 + text.length / 64
}
