// Facts about single characters: which are invisible, which look like Latin letters, and how each is folded for matching.

/** Part of the ruleset version: raise it whenever folding changes what a rule sees. */
export const NORMALISER_VERSION = 3

/** Pairs of a Cyrillic, Greek or Armenian letter and the Latin letter it is mistaken for. */
const LOOKALIKES =
  'аa еe оo рp сc уy хx ѕs іi јj ԁd һh ӏl ԛq ԝw вb нh кk мm тt гr пn ьb ԍg ѵv ҽe ' +
  'αa οo εe ρp νv τt ιi κk υu χx γy ηn ωw βb μm σo ϲc ' +
  'ոn սu հh ցg օo աw քp գq տs'

/** And letters of phonetics, which nobody writes words of English with. */
const SMALL_CAPITALS = ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡ', 'abcdefghijklmnoprstuvwyzag'] as const

const lookalikes = new Map(LOOKALIKES.split(' ').map(([from = '', to = '']) => [from, to]))

const smallCapitals = new Map<string, string>()
for (const [index, character] of [...SMALL_CAPITALS[0]].entries()) {
  smallCapitals.set(character, SMALL_CAPITALS[1][index] ?? character)
}

/** What a character is folded to: '' drops it. */
export interface Fold {
  readonly text: string
  /** The same, in upper case where the character was; of the same length. */
  readonly cased: string
}

const folds = new Map<number, Fold>()
const FOLDS_MAX = 16_384

/** The form of a non-ASCII character in the match copy: NFKC, lower case, without Latin diacritics. */
export function foldCharacter(codePoint: number): Fold {
  const known = folds.get(codePoint)
  if (known !== undefined) return known
  const folded = computeFold(codePoint)
  if (folds.size >= FOLDS_MAX) folds.clear()
  folds.set(codePoint, folded)
  return folded
}

function computeFold(codePoint: number): Fold {
  if (isCombiningMark(codePoint)) return { text: '', cased: '' }
  const squared = foldEnclosed(codePoint)
  if (squared !== undefined) return { text: squared, cased: squared.toUpperCase() }
  const compatible = String.fromCodePoint(codePoint).normalize('NFKC')
  const text = withoutMarks(compatible.toLowerCase())
  const plain = text === 'ı' ? 'i' : (smallCapitals.get(text) ?? text)
  const cased = withoutMarks(compatible)
  return { text: plain, cased: cased.toLowerCase() === plain ? cased : plain }
}

function withoutMarks(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
}

/** Negative circled and squared letters, which NFKC leaves alone. */
function foldEnclosed(codePoint: number): string | undefined {
  for (const first of [0x1f150, 0x1f170]) {
    if (codePoint >= first && codePoint < first + 26)
      return String.fromCodePoint(0x61 + codePoint - first)
  }
  return undefined
}

function isCombiningMark(codePoint: number): boolean {
  return (codePoint >= 0x300 && codePoint <= 0x36f) || (codePoint >= 0x20d0 && codePoint <= 0x20ff)
}

/** Whether the character belongs to a script (Greek, Cyrillic, Armenian) with letters that look Latin. */
export function hasLookalikes(codePoint: number): boolean {
  return codePoint >= 0x370 && codePoint <= 0x58f
}

const LETTER_RUN = /[a-z\u0370-\u058f]+/gu
const LOOKALIKE = /[\u0370-\u058f]/u
const LATIN = /[a-z]/u

/**
 * Replaces lookalikes in tokens that mix Latin with Greek, Cyrillic or Armenian; the length stays the same. Whole runs are
 * matched and judged afterwards: an expression that asks for the mixture itself starts anew at every letter of a plain run.
 */
export function foldLookalikes(text: string): string {
  return text.replaceAll(LETTER_RUN, (token) =>
    LOOKALIKE.test(token) && LATIN.test(token)
      ? Array.from(token, (character) => lookalikes.get(character) ?? character).join('')
      : token,
  )
}

const INVISIBLE = new Set([
  0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180e, 0x180f,
  0x3164, 0xfeff, 0xffa0,
])

/** Characters that a reader does not see; they are dropped from the match copy and never from the message. */
export function isInvisible(codePoint: number): boolean {
  if (codePoint >= 0x200b && codePoint <= 0x200f) return true
  if (codePoint >= 0x202a && codePoint <= 0x202e) return true
  if (codePoint >= 0x2060 && codePoint <= 0x206f) return true
  return isTag(codePoint) || isVariationSelector(codePoint) || INVISIBLE.has(codePoint)
}

export function isTag(codePoint: number): boolean {
  return codePoint >= 0xe0000 && codePoint <= 0xe007f
}

export function isVariationSelector(codePoint: number): boolean {
  return (
    (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef)
  )
}

/** Whether the scripts of the world need an invisible character at this place, so that it hides nothing. */
export function isExplained(codePoint: number, before: number, after: number): boolean {
  if (codePoint === 0x200d)
    return joinsScripts(before) || (isPictograph(before) && isPictograph(after))
  if (codePoint === 0x200c) return joinsScripts(before) || joinsScripts(after)
  if (codePoint === 0xad || codePoint === 0x200e || codePoint === 0x200f || codePoint === 0xfeff)
    return true
  if (isVariationSelector(codePoint))
    return !isVariationSelector(before) && !isVariationSelector(after)
  return (codePoint === 0x200b || codePoint === 0x2060) && before > 0x2e7f
}

function isPictograph(codePoint: number): boolean {
  return (
    codePoint >= 0x2190 &&
    (codePoint < 0x2e80 || codePoint >= 0x1f000 || isVariationSelector(codePoint))
  )
}

/** Arabic (with Syriac and NKo) and the Indic and South-East Asian scripts, which join letters with ZWJ and ZWNJ. */
function joinsScripts(codePoint: number): boolean {
  return (
    (codePoint >= 0x600 && codePoint <= 0x109f) ||
    (codePoint >= 0x1780 && codePoint <= 0x18af) ||
    (codePoint >= 0xfb50 && codePoint <= 0xfdff)
  )
}
