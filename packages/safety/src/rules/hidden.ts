// The rule for text that no reader sees; it has no pattern, because the normaliser finds it.
import type { Rule } from './rule.ts'

export const HIDDEN_TEXT: Rule = {
  id: 'hidden-text',
  category: 'obfuscation',
  effect: 'suspect',
  weight: 0.5,
  pattern: '',
}
