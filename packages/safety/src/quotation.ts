// Recognises that a text speaks about an attack instead of being one.

const AROUND = 96
const FENCE_DISTANCE = 4096

const CUE_BEFORE =
  /(?:contain(?:s|ed|ing)? the (?:string|text|phrase|words|sentence)|phrases? (?:like|such as)|(?:strings?|prompts?|messages?|payloads?|texts?|instructions?|inputs?|commands?|attacks?|injections?) (?:like|such as|of the form)|such as|for example|e\.g\.|known as|so-called|titled|entitled|called|example of|examples?:|for instance|(?:attack|injection|payload|jailbreak|phishing)[^.\n]{0,40}:?|blocked|detect(?:s|ed|ing|ion)?|test case|filter(?:s|ed)?|saying|says|said|wrote|reads|stating|tried)[^.\n]{0,40}$/u
const CUE_AFTER =
  /^[^.\n]{0,24}(?:was|were|is|are|has been|have been|got|gets)? ?(?:blocked|rejected|detected|flagged|filtered|refused|quarantined|caught|a (?:known|classic|typical|common) (?:attack|injection|jailbreak|phrase))/u
const REPORTING =
  /(?:attackers?|adversar(?:y|ies)|hackers?|malicious (?:user|actor|website|document|page|mail)s?|injections?|jailbreaks?|payloads?|phrases?)\b[^.\n]{0,48}[:,]\s*["'“‘«`]?$/u
const NEGATION =
  /\b(?:do not|don'?t|don’t|never|not to|must not|should not|cannot|can't|without|may not)(?: ever| just| simply)?\s+$/u
const OPENING = /["'“‘«`](?:[^"'“”‘’«»`\n]{0,48})$/u
const CLOSING = /^[^"'“”‘’«»`\n]{0,96}["'”’»`]/u

/** Whether a match stands in quotation marks after a cue or in a code fence, or is reported, forbidden or said to be stopped. */
export function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - AROUND), start)
  const after = text.slice(end, end + AROUND + 32)
  if (NEGATION.test(before) || REPORTING.test(before)) return true
  const inQuotes = OPENING.test(before) && CLOSING.test(after)
  if (inQuotes && CUE_BEFORE.test(before.replace(OPENING, ''))) return true
  if (inQuotes && CUE_AFTER.test(after.replace(CLOSING, ''))) return true
  return isFenced(text, start, end)
}

/**
 * An odd number of fences shortly before, and one shortly after, mean that the text stands in a code block. One that is never closed
 * is no block: whoever writes an attack could begin it so.
 */
function isFenced(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - FENCE_DISTANCE), start)
  const after = text.slice(end, end + FENCE_DISTANCE)
  return before.split('```').length % 2 === 0 && after.includes('```')
}
