// Brings a licence text into one form: the same contract reads the same, however its file was laid out.

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&copy;': '©',
  '&quot;': '"',
}

/**
 * Well-formed Unicode in NFC, line feeds only, without comment and quotation marks at the start of
 * lines and without HTML entities. Words and their order are untouched.
 */
export function normaliseText(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/^\uFEFF|\r(?=\n)/g, '')
    .replaceAll('\r', '\n')
    .replaceAll(/&(?:lt|gt|amp|copy|quot);/g, (entity) => ENTITIES[entity] ?? entity)
    .split('\n')
    .map(withoutMargin)
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

// A quotation bar, a comment's slashes, or its opening, closing and leading star.
const MARGIN = /^[ \t]*(?:(?:>[ \t]?)+|\/\/[ \t]?|\/\*+[ \t]?|\*\/)/

function withoutMargin(line: string): string {
  return line
    .replace(MARGIN, '')
    .replace(/\*\/\s*$/, '')
    .replaceAll(/[ \t\f\v\u00A0]+/g, ' ')
    .trim()
}

const COMMON_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: ['the', 'and', 'of', 'to', 'this', 'is', 'or', 'in', 'any'],
  de: ['der', 'die', 'und', 'das', 'oder', 'nicht', 'ist', 'zu', 'von'],
  fr: ['le', 'la', 'les', 'et', 'des', 'ou', 'du', 'est', 'une'],
  es: ['el', 'los', 'las', 'y', 'de', 'que', 'una', 'es', 'por'],
}

/** BCP 47 tag of the language whose common words stand in the text most often; `und` for too few. */
export function detectLanguage(text: string): string {
  const words = new Map<string, number>()
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    words.set(word, (words.get(word) ?? 0) + 1)
  }
  const scored = Object.entries(COMMON_WORDS).map(([language, common]) => ({
    language,
    hits: common.reduce((sum, word) => sum + (words.get(word) ?? 0), 0),
  }))
  const [best] = scored.toSorted((a, b) => b.hits - a.hits)
  return best !== undefined && best.hits >= 5 ? best.language : 'und'
}
