// The rules for characters that no reader sees; they have no pattern, because the normaliser finds what they name.
import type { Rule } from './rule.ts'

/** Text spelled in tag characters or variation selectors: nobody does that by accident. */
export const HIDDEN_TEXT: Rule = {
  id: 'hidden-text',
  category: 'obfuscation',
  effect: 'suspect',
  weight: 0.5,
  pattern: '',
}

/** Invisible characters without a reason in their script; recorded, because editors and web pages leave some behind. */
export const HIDDEN_CHARACTERS: Rule = {
  id: 'hidden-characters',
  category: 'obfuscation',
  effect: 'note',
  weight: 0.1,
  pattern: '',
}

/** Fewer unexplained characters than this are not worth recording. */
export const UNEXPLAINED_MIN = 8
